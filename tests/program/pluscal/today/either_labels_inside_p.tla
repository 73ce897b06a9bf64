VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ \/ /\ x' = 1
           /\ pc' = "B"
           /\ y' = y
        \/ /\ pc' = "C"
           /\ UNCHANGED <<x, y>>
        \/ /\ x > 0
           /\ y' = 2
           /\ pc' = "D"
           /\ x' = x

B == /\ pc = "B"
     /\ y' = 1
     /\ pc' = "D"
     /\ x' = x

C == /\ pc = "C"
     /\ x' = 2
     /\ pc' = "D"
     /\ y' = y

D == /\ pc = "D"
     /\ y' = x
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

