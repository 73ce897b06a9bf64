VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = x + 1
     /\ pc' = "C"

B == /\ pc = "B"
     /\ x' = 10
     /\ pc' = "Done"

C == /\ pc = "C"
     /\ IF x < 2
           THEN /\ pc' = "A"
           ELSE /\ pc' = "B"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

