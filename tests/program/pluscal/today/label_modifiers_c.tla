VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2) \cup {3}

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "A"
                                        [] self = 3 -> "D"]

A(self) == /\ pc[self] = "A"
           /\ x' = 1
           /\ pc' = [pc EXCEPT ![self] = "B"]

B(self) == /\ pc[self] = "B"
           /\ x' = 2
           /\ pc' = [pc EXCEPT ![self] = "C"]

C(self) == /\ pc[self] = "C"
           /\ x' = 3
           /\ pc' = [pc EXCEPT ![self] = "Done"]

P(self) == A(self) \/ B(self) \/ C(self)

D == /\ pc[3] = "D"
     /\ x' = 1
     /\ pc' = [pc EXCEPT ![3] = "E"]

E == /\ pc[3] = "E"
     /\ x' = 2
     /\ pc' = [pc EXCEPT ![3] = "Done"]

Q == D \/ E

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Q
           \/ (\E self \in 1..2: P(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in 1..2 : WF_vars((pc[self] # "B") /\ P(self)) /\ SF_vars(A(self))
        /\ SF_vars((pc[3] # "D") /\ Q)

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

