VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x \in 0..5
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ y' = 1
           ELSE /\ IF x = 1
                      THEN /\ y' = 2
                      ELSE /\ TRUE
                           /\ y' = y
     /\ pc' = "B"
     /\ x' = x

B == /\ pc = "B"
     /\ y' = 7
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

