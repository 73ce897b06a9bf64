VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ IF x = 0
                 THEN /\ pc' = [pc EXCEPT ![self] = "Done"]
                 ELSE /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ x' = x

B(self) == /\ pc[self] = "B"
           /\ x' = 1
           /\ pc' = [pc EXCEPT ![self] = "Done"]

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

