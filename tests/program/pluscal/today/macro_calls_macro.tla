VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = x + 1
     /\ IF y > 0
           THEN /\ y' = y + 1
           ELSE /\ y' = 1
     /\ pc' = "B"

B == /\ pc = "B"
     /\ y' = y + 1
     /\ IF x > 0
           THEN /\ x' = x + 1
           ELSE /\ x' = 1
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

