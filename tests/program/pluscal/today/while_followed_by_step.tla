VARIABLES pc, i

vars == << pc, i >>

Init == (* Global variables *)
        /\ i = 0
        /\ pc = "L"

L == /\ pc = "L"
     /\ IF i < 3
           THEN /\ i' = i + 1
                /\ pc' = "L"
           ELSE /\ i' = 100
                /\ pc' = "M"

M == /\ pc = "M"
     /\ i' = 0
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == L \/ M
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

