VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2) \cup {3} \cup {4}

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "A"
                                        [] self = 3 -> "C"
                                        [] self = 4 -> "E"]

A(self) == /\ pc[self] = "A"
           /\ x' = 1
           /\ pc' = [pc EXCEPT ![self] = "B"]

B(self) == /\ pc[self] = "B"
           /\ x' = 2
           /\ pc' = [pc EXCEPT ![self] = "Done"]

P(self) == A(self) \/ B(self)

C == /\ pc[3] = "C"
     /\ x' = 1
     /\ pc' = [pc EXCEPT ![3] = "D"]

D == /\ pc[3] = "D"
     /\ x' = 2
     /\ pc' = [pc EXCEPT ![3] = "Done"]

Q == C \/ D

E == /\ pc[4] = "E"
     /\ x' = 1
     /\ pc' = [pc EXCEPT ![4] = "Done"]

R == E

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Q \/ R
           \/ (\E self \in 1..2: P(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in 1..2 : WF_vars(P(self))
        /\ SF_vars(Q)

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

