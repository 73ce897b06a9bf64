VARIABLES pc, out, k

vars == << pc, out, k >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ out = {}
        (* Process P *)
        /\ k = [self \in 1..2 |-> 0]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ out' = {k[self] \in {1, 2} : k[self] > 1}
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ k' = k

B(self) == /\ pc[self] = "B"
           /\ out' = {[k |-> k[self]]}
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ k' = k

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

