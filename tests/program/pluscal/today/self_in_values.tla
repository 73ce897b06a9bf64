VARIABLES pc, owner, me, peers

vars == << pc, owner, me, peers >>

ProcSet == ({1, 2})

Init == (* Global variables *)
        /\ owner = 0
        (* Process P *)
        /\ me = [self \in {1, 2} |-> self]
        /\ peers = [self \in {1, 2} |-> {1, 2} \ {self}]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ owner = 0
           /\ owner' = self
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << me, peers >>

B(self) == /\ pc[self] = "B"
           /\ Assert(owner = self /\ me[self] = self, 
                     "Failure of assertion at line 10, column 6.")
           /\ owner' = 0
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << me, peers >>

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in {1, 2}: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

