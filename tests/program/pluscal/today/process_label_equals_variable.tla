\* Label A of process P at line 7 col 6 changed to A_
VARIABLES pc, A

vars == << pc, A >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ A = 0
        /\ pc = [self \in ProcSet |-> "A_"]

A_(self) == /\ pc[self] = "A_"
            /\ TRUE
            /\ pc' = [pc EXCEPT ![self] = "B"]
            /\ A' = A

B(self) == /\ pc[self] = "B"
           /\ TRUE
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ A' = A

P(self) == A_(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

