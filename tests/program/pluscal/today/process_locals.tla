CONSTANT defaultInitValue
VARIABLES pc, shared, a, b, c, d

vars == << pc, shared, a, b, c, d >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ shared = [p \in 1..2 |-> 0]
        (* Process P *)
        /\ a = [self \in 1..2 |-> 0]
        /\ b \in [1..2 -> {self, 7}]
        /\ c = [self \in 1..2 |-> [k \in 1..2 |-> self]]
        /\ d = [self \in 1..2 |-> defaultInitValue]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ a' = [a EXCEPT ![self] = a[self] + 1]
           /\ c' = [c EXCEPT ![self][a'[self]] = b[self]]
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << shared, b, d >>

B(self) == /\ pc[self] = "B"
           /\ shared' = [shared EXCEPT ![self] = a[self] + c[self][1]]
           /\ d' = [d EXCEPT ![self] = shared']
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << a, b, c >>

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

