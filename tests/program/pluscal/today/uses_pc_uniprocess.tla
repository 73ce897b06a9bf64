VARIABLES pc, x, where

vars == << pc, x, where >>

Init == (* Global variables *)
        /\ x = 0
        /\ where = ""
        /\ pc = "A"

A == /\ pc = "A"
     /\ where' = pc
     /\ pc' = "B"
     /\ x' = x

B == /\ pc = "B"
     /\ x' = 1
     /\ pc' = "Done"
     /\ where' = where

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

