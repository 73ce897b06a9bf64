VARIABLES pc, x, s

vars == << pc, x, s >>

Init == (* Global variables *)
        /\ x = 0
        /\ s = {1, 2}
        /\ pc = "A"

A == /\ pc = "A"
     /\ \/ /\ \E e \in s:
                x' = e
        \/ /\ x' = 0
     /\ pc' = "B"
     /\ s' = s

B == /\ pc = "B"
     /\ \/ /\ \E e \in {x, x + 1}:
                x' = e
        \/ /\ x' = 0
     /\ pc' = "Done"
     /\ s' = s

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

