VARIABLE pc

vars == << pc >>

Init == /\ pc = "A"

A == /\ pc = "A"
     /\ TRUE
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

