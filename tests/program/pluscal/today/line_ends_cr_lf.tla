VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ /\ x = 0
        /\ \/ y = 0
           \/ y = 1
        /\ \A i \in 1..2 :
             \/ i > x
             \/ i < y
     /\ x' = 1
     /\ pc' = "B"
     /\ y' = y

B == /\ pc = "B"
     /\ IF \/ x = 1
           \/ y = 1
           THEN /\ y' = 2
           ELSE /\ TRUE
                /\ y' = y
     /\ pc' = "C"
     /\ x' = x

C == /\ pc = "C"
     /\ IF /\ x < 3
           /\ y < 9
           THEN /\ x' = x + 1
                /\ pc' = "C"
           ELSE /\ pc' = "Done"
                /\ x' = x
     /\ y' = y

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

