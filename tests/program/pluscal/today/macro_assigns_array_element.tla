VARIABLES pc, f, k

vars == << pc, f, k >>

Init == (* Global variables *)
        /\ f = [i \in 1..2 |-> 0]
        /\ k = 1
        /\ pc = "A"

A == /\ pc = "A"
     /\ f' = [f EXCEPT ![1] = (f[1]) + 1]
     /\ pc' = "B"
     /\ k' = k

B == /\ pc = "B"
     /\ f' = [f EXCEPT ![k + 1] = (f[k + 1]) + 1]
     /\ pc' = "Done"
     /\ k' = k

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

