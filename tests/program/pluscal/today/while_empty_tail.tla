VARIABLES pc, i

vars == << pc, i >>

Init == (* Global variables *)
        /\ i = 0
        /\ pc = "L"

L == /\ pc = "L"
     /\ IF i < 1
           THEN /\ TRUE
                /\ pc' = "L"
           ELSE /\ pc' = "Done"
     /\ i' = i

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == L
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

