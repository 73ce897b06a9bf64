VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2) \cup {3}

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "A"
                                        [] self = 3 -> "B"]

A(self) == /\ pc[self] = "A"
           /\ x' = x + 1
           /\ pc' = [pc EXCEPT ![self] = "Done"]

P(self) == A(self)

B == /\ pc[3] = "B"
     /\ \A p \in 1..2 : pc[p] = "Done"
     /\ x' = 0
     /\ pc' = [pc EXCEPT ![3] = "Done"]

Q == B

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Q
           \/ (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

