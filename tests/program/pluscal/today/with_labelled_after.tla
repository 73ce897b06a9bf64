VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ \E t \in {1, 2}:
          /\ x' = t
          /\ IF t = 1
                THEN /\ y' = t
                ELSE /\ TRUE
                     /\ y' = y
     /\ IF x' = 1
           THEN /\ pc' = "B"
           ELSE /\ pc' = "C"

B == /\ pc = "B"
     /\ y' = 3
     /\ pc' = "C"
     /\ x' = x

C == /\ pc = "C"
     /\ TRUE
     /\ pc' = "Done"
     /\ UNCHANGED << x, y >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

