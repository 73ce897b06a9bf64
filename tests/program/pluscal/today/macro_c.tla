VARIABLES pc, x, sem

vars == << pc, x, sem >>

Init == (* Global variables *)
        /\ x = 0
        /\ sem = 1
        /\ pc = "A"

A == /\ pc = "A"
     /\ sem > 0
     /\ sem' = sem - 1
     /\ x' = x + 1
     /\ pc' = "B"

B == /\ pc = "B"
     /\ sem' = sem + 1
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

