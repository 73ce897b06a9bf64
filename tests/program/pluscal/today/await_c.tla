VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ x = 0
     /\ x' = 1
     /\ pc' = "B"

B == /\ pc = "B"
     /\ (x = 1)
     /\ x' = 2
     /\ pc' = "C"

C == /\ pc = "C"
     /\ x' = 3
     /\ x' > 2
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

