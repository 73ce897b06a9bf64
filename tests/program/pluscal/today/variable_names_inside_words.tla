VARIABLES pc, i, ii, i2, j, jj

vars == << pc, i, ii, i2, j, jj >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ i = 0
        /\ ii = 0
        /\ i2 = 0
        (* Process P *)
        /\ j = [self \in 1..2 |-> 0]
        /\ jj = [self \in 1..2 |-> [j |-> 0]]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ i' = ii + i2
           /\ j' = [j EXCEPT ![self] = i']
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << ii, i2, jj >>

B(self) == /\ pc[self] = "B"
           /\ jj' = [jj EXCEPT ![self] = [j |-> j[self], jj |-> jj[self].j]]
           /\ ii' = jj'[self].j + j[self]
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << i, i2, j >>

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

