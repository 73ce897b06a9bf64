VARIABLES pc, busy

vars == << pc, busy >>

ProcSet == ({"s1", "s2"}) \cup {"client"}

Init == (* Global variables *)
        /\ busy = {}
        /\ pc = [self \in ProcSet |-> CASE self \in {"s1", "s2"} -> "Idle"
                                        [] self = "client" -> "Ask"]

Idle(self) == /\ pc[self] = "Idle"
              /\ self \notin busy
              /\ busy' = (busy \cup {self})
              /\ pc' = [pc EXCEPT ![self] = "Work"]

Work(self) == /\ pc[self] = "Work"
              /\ busy' = busy \ {self}
              /\ pc' = [pc EXCEPT ![self] = "Idle"]

S(self) == Idle(self) \/ Work(self)

Ask == /\ pc["client"] = "Ask"
       /\ \/ /\ TRUE
          \/ /\ busy = {}
       /\ pc' = [pc EXCEPT !["client"] = "Ask"]
       /\ busy' = busy

C == Ask

Next == C
           \/ (\E self \in {"s1", "s2"}: S(self))

Spec == Init /\ [][Next]_vars

