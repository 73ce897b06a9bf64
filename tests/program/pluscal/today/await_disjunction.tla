VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ \/ x = 0
        \/ /\ y = 1
           /\ x # 2
     /\ x' = 1
     /\ pc' = "B"
     /\ y' = y

B == /\ pc = "B"
     /\ x = 1 \/ y = 1
     /\ y' = 1
     /\ pc' = "C"
     /\ x' = x

C == /\ pc = "C"
     /\ \A i \in {1, 2} : i > x
     /\ pc' = "Done"
     /\ UNCHANGED << x, y >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

