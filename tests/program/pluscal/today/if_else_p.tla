VARIABLES pc, x, y, z

vars == << pc, x, y, z >>

Init == (* Global variables *)
        /\ x \in 0..2
        /\ y = 0
        /\ z = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ y' = 1
                /\ z' = z
           ELSE /\ z' = 1
                /\ y' = y
     /\ pc' = "B"
     /\ x' = x

B == /\ pc = "B"
     /\ y' = y + 1
     /\ pc' = "Done"
     /\ UNCHANGED << x, z >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

