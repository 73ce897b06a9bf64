VARIABLE t

vars == << t >>

ProcSet == (1..2)

Init == (* Process Clock *)
        /\ t = [self \in 1..2 |-> 0]

Clock(self) == t' = [t EXCEPT ![self] = t[self] + 1]

Next == (\E self \in 1..2: Clock(self))

Spec == Init /\ [][Next]_vars

