VARIABLES pc, x, i

vars == << pc, x, i >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ x = 0
        (* Process P *)
        /\ i = [self \in 1..2 |-> 0]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ \E j \in {1, 2}:
                LET k == j + i[self] IN
                  /\ i' = [i EXCEPT ![self] = j]
                  /\ x' = k + i'[self]
           /\ pc' = [pc EXCEPT ![self] = "B"]

B(self) == /\ pc[self] = "B"
           /\ x' = i[self]
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ i' = i

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

