VARIABLES pc, i, odd

vars == << pc, i, odd >>

Init == (* Global variables *)
        /\ i = 0
        /\ odd = 0
        /\ pc = "L"

L == /\ pc = "L"
     /\ IF i < 9
           THEN /\ IF i % 2 = 1
                      THEN /\ pc' = "M"
                           /\ odd' = odd
                      ELSE /\ odd' = odd - 1
                           /\ pc' = "N"
           ELSE /\ pc' = "Done"
                /\ odd' = odd
     /\ i' = i

N == /\ pc = "N"
     /\ i' = i + 1
     /\ pc' = "L"
     /\ odd' = odd

M == /\ pc = "M"
     /\ odd' = odd + 1
     /\ pc' = "N"
     /\ i' = i

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == L \/ N \/ M
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

