CONSTANT defaultInitValue
VARIABLES pc, a, b, c

vars == << pc, a, b, c >>

ProcSet == {"me"}

Init == (* Process P *)
        /\ a = 0
        /\ b \in 1..2
        /\ c = defaultInitValue
        /\ pc = [self \in ProcSet |-> "A"]

A == /\ pc["me"] = "A"
     /\ a' = b
     /\ pc' = [pc EXCEPT !["me"] = "B"]
     /\ UNCHANGED << b, c >>

B == /\ pc["me"] = "B"
     /\ c' = a + b
     /\ pc' = [pc EXCEPT !["me"] = "Done"]
     /\ UNCHANGED << a, b >>

P == A \/ B

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == P
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

