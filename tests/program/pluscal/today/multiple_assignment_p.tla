VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 1
        /\ y = 2
        /\ pc = "A"

A == /\ pc = "A"
     /\ /\ x' = y
        /\ y' = x
     /\ pc' = "B"

B == /\ pc = "B"
     /\ x' = x + y
     /\ y' = x'
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

