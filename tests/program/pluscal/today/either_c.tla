VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ \/ /\ x' = 1
           /\ y' = y
        \/ /\ x' = 2
           /\ y' = 2
        \/ /\ TRUE
           /\ UNCHANGED <<x, y>>
     /\ pc' = "B"

B == /\ pc = "B"
     /\ y' = x
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

