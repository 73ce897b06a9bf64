VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "Auto1"

Auto1 == /\ pc = "Auto1"
         /\ x' = 1
         /\ pc' = "Auto2"

Auto2 == /\ pc = "Auto2"
         /\ x' = 2
         /\ pc' = "Auto3"

Auto3 == /\ pc = "Auto3"
         /\ x' = 3
         /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Auto1 \/ Auto2 \/ Auto3
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

