VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = 1
     /\ pc' = "B"

B == /\ pc = "B"
     /\ IF x = 1
           THEN /\ x' = 2
           ELSE /\ TRUE
                /\ x' = x
     /\ pc' = "C"

C == /\ pc = "C"
     /\ x = 2
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

