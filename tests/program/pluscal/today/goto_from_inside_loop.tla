VARIABLES pc, i

vars == << pc, i >>

Init == (* Global variables *)
        /\ i = 0
        /\ pc = "L"

L == /\ pc = "L"
     /\ IF i < 9
           THEN /\ i' = i + 1
                /\ IF i' = 5
                      THEN /\ pc' = "Out"
                      ELSE /\ IF i' = 6
                                 THEN /\ pc' = "L"
                                 ELSE /\ pc' = "L"
           ELSE /\ pc' = "Mid"
                /\ i' = i

Mid == /\ pc = "Mid"
       /\ i' = 100
       /\ pc' = "Out"

Out == /\ pc = "Out"
       /\ TRUE
       /\ pc' = "Done"
       /\ i' = i

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == L \/ Mid \/ Out
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

