VARIABLES pc, f

vars == << pc, f >>

Init == (* Global variables *)
        /\ f = [i \in 1..2 |-> [n |-> 0]]
        /\ pc = "A"

A == /\ pc = "A"
     /\ f' = [f EXCEPT ![1].n = @ + 1, ![2] = [n |-> 5]]
     /\ pc' = "B"

B == /\ pc = "B"
     /\ f' = [f EXCEPT ![1].n = f[1].n + 1]
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

