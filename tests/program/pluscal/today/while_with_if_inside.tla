VARIABLES pc, i, odd

vars == << pc, i, odd >>

Init == (* Global variables *)
        /\ i = 0
        /\ odd = 0
        /\ pc = "L"

L == /\ pc = "L"
     /\ IF i < 9
           THEN /\ IF i % 2 = 1
                      THEN /\ odd' = odd + 1
                      ELSE /\ TRUE
                           /\ odd' = odd
                /\ i' = i + 1
                /\ pc' = "L"
           ELSE /\ pc' = "Done"
                /\ UNCHANGED << i, odd >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == L
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

