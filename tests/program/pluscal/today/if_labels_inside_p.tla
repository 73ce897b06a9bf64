VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x \in 0..2
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ y' = 1
                /\ pc' = "B"
           ELSE /\ IF x = 1
                      THEN /\ pc' = "C"
                           /\ y' = y
                      ELSE /\ y' = 5
                           /\ pc' = "E"
     /\ x' = x

B == /\ pc = "B"
     /\ y' = 2
     /\ pc' = "E"
     /\ x' = x

C == /\ pc = "C"
     /\ y' = 3
     /\ pc' = "D"
     /\ x' = x

D == /\ pc = "D"
     /\ y' = 4
     /\ pc' = "E"
     /\ x' = x

E == /\ pc = "E"
     /\ y' = 6
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D \/ E
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

