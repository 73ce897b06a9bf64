VARIABLES pc, q, got, i, sent

vars == << pc, q, got, i, sent >>

ProcSet == ({10, 20}) \cup {0}

Init == (* Global variables *)
        /\ q = <<>>
        (* Process Reader *)
        /\ got = [self \in {10, 20} |-> 0]
        (* Process Writer *)
        /\ i \in 1..2
        /\ sent = FALSE
        /\ pc = [self \in ProcSet |-> CASE self \in {10, 20} -> "R"
                                        [] self = 0 -> "W"]

R(self) == /\ pc[self] = "R"
           /\ q # <<>>
           /\ got' = [got EXCEPT ![self] = Head(q)]
           /\ q' = Tail(q)
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << i, sent >>

Reader(self) == R(self)

W == /\ pc[0] = "W"
     /\ IF i < 3
           THEN /\ q' = Append(q, i)
                /\ i' = i + 1
                /\ pc' = [pc EXCEPT ![0] = "W"]
                /\ sent' = sent
           ELSE /\ sent' = TRUE
                /\ pc' = [pc EXCEPT ![0] = "Done"]
                /\ UNCHANGED << q, i >>
     /\ got' = got

Writer == W

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Writer
           \/ (\E self \in {10, 20}: Reader(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

