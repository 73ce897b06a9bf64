\* Process variable t of process P at line 6 col 10 changed to t_
VARIABLES pc, x, t_, t, u

vars == << pc, x, t_, t, u >>

ProcSet == (1..2) \cup (3..4)

Init == (* Global variables *)
        /\ x = 0
        (* Process P *)
        /\ t_ = [self \in 1..2 |-> 0]
        (* Process Q *)
        /\ t = [self \in 3..4 |-> 1]
        /\ u = [self \in 3..4 |-> t[self]]
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "A"
                                        [] self \in 3..4 -> "C"]

A(self) == /\ pc[self] = "A"
           /\ t_' = [t_ EXCEPT ![self] = x]
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << x, t, u >>

B(self) == /\ pc[self] = "B"
           /\ x' = t_[self] + 1
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << t_, t, u >>

P(self) == A(self) \/ B(self)

C(self) == /\ pc[self] = "C"
           /\ t' = [t EXCEPT ![self] = u[self]]
           /\ pc' = [pc EXCEPT ![self] = "D"]
           /\ UNCHANGED << x, t_, u >>

D(self) == /\ pc[self] = "D"
           /\ x' = t[self]
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << t_, t, u >>

Q(self) == C(self) \/ D(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ (\E self \in 3..4: Q(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

