VARIABLE t

vars == << t >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ t = 0

Clock(self) == t' = t + 1

Next == (\E self \in 1..2: Clock(self))

Spec == Init /\ [][Next]_vars

