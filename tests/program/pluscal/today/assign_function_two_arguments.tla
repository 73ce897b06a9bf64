VARIABLES pc, g, h

vars == << pc, g, h >>

Init == (* Global variables *)
        /\ g = [i \in 1..2, j \in 1..2 |-> 0]
        /\ h = [i \in 1..2 |-> [j \in 1..2 |-> 0]]
        /\ pc = "A"

A == /\ pc = "A"
     /\ g' = [g EXCEPT ![1, 2] = 5]
     /\ h' = [h EXCEPT ![1][2] = g'[1, 2]]
     /\ pc' = "B"

B == /\ pc = "B"
     /\ h' = [h EXCEPT ![2] = [h[2] EXCEPT ![1] = @ + 1]]
     /\ pc' = "Done"
     /\ g' = g

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

