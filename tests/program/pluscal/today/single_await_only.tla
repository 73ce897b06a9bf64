VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x \in {0, 1}
        /\ pc = "A"

A == /\ pc = "A"
     /\ x = 1
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

