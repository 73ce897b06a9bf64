VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = {}
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = {x}
     /\ pc' = "B"

B == /\ pc = "B"
     /\ x' = {}
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

