VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "Only"

Only == /\ pc = "Only"
        /\ x' = x + 1
        /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Only
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

