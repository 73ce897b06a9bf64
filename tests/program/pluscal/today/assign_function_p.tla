VARIABLES pc, f, i

vars == << pc, f, i >>

Init == (* Global variables *)
        /\ f = [i \in 1..3 |-> 0]
        /\ i = 1
        /\ pc = "A"

A == /\ pc = "A"
     /\ f' = [f EXCEPT ![i] = f[i] + 1]
     /\ i' = i + 1
     /\ pc' = "B"

B == /\ pc = "B"
     /\ f' = [f EXCEPT ![i] = i]
     /\ pc' = "Done"
     /\ i' = i

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

