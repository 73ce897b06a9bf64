VARIABLES pc, buf, made, used, got

vars == << pc, buf, made, used, got >>

ProcSet == {"p"} \cup ({"c1", "c2"})

Init == (* Global variables *)
        /\ buf = <<>>
        /\ made = 0
        /\ used = 0
        (* Process Consumer *)
        /\ got = [self \in {"c1", "c2"} |-> 0]
        /\ pc = [self \in ProcSet |-> CASE self = "p" -> "P"
                                        [] self \in {"c1", "c2"} -> "C"]

P == /\ pc["p"] = "P"
     /\ IF made < 3
           THEN /\ Len(buf) < 2
                /\ made' = made + 1
                /\ buf' = Append(buf, made')
                /\ pc' = [pc EXCEPT !["p"] = "P"]
           ELSE /\ pc' = [pc EXCEPT !["p"] = "Done"]
                /\ UNCHANGED << buf, made >>
     /\ UNCHANGED << used, got >>

Producer == P

C(self) == /\ pc[self] = "C"
           /\ buf # <<>>
           /\ \/ /\ got' = [got EXCEPT ![self] = Head(buf)]
                 /\ buf' = Tail(buf)
                 /\ used' = used + 1
              \/ /\ TRUE
                 /\ UNCHANGED <<buf, used, got>>
           /\ pc' = [pc EXCEPT ![self] = "C"]
           /\ made' = made

Consumer(self) == C(self)

Next == Producer
           \/ (\E self \in {"c1", "c2"}: Consumer(self))

Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(Next)

