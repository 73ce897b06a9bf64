VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ x' = 1
                /\ y' = 1
           ELSE /\ y' = 2
                /\ x' = x
     /\ pc' = "B"

B == /\ pc = "B"
     /\ \/ /\ x' = 2
           /\ y' = y
        \/ /\ y' = 3
           /\ x' = x
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

