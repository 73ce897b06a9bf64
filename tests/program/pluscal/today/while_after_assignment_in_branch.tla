VARIABLES pc, x, i

vars == << pc, x, i >>

Init == (* Global variables *)
        /\ x = 0
        /\ i = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ x' = 1
                /\ pc' = "B"
           ELSE /\ pc' = "C"
                /\ x' = x
     /\ i' = i

B == /\ pc = "B"
     /\ IF i < 2
           THEN /\ i' = i + 1
                /\ pc' = "B"
           ELSE /\ pc' = "E"
                /\ i' = i
     /\ x' = x

C == /\ pc = "C"
     /\ IF i < 3
           THEN /\ i' = i + 1
                /\ pc' = "D"
           ELSE /\ pc' = "E"
                /\ i' = i
     /\ x' = x

D == /\ pc = "D"
     /\ x' = x + 1
     /\ pc' = "C"
     /\ i' = i

E == /\ pc = "E"
     /\ \/ /\ pc' = "F"
        \/ /\ TRUE
           /\ pc' = "Done"
     /\ UNCHANGED << x, i >>

F == /\ pc = "F"
     /\ IF i < 9
           THEN /\ i' = i + 1
                /\ pc' = "F"
           ELSE /\ pc' = "Done"
                /\ i' = i
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D \/ E \/ F
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

