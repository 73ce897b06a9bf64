VARIABLES pc, x, y, z

vars == << pc, x, y, z >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ z = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ \E t \in {1, 2}:
          x' = t
     /\ y' = x' + 1
     /\ z' = y' + x'
     /\ pc' = "B"

B == /\ pc = "B"
     /\ TRUE
     /\ pc' = "Done"
     /\ UNCHANGED << x, y, z >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

