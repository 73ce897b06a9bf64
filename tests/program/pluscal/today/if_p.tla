VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x \in 0..2
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ y' = 1
           ELSE /\ TRUE
                /\ y' = y
     /\ pc' = "B"
     /\ x' = x

B == /\ pc = "B"
     /\ y' = y + 1
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

