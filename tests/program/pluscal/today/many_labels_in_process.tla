VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> "LongLabelNumberOne"]

LongLabelNumberOne(self) == /\ pc[self] = "LongLabelNumberOne"
                            /\ x' = 1
                            /\ pc' = [pc EXCEPT ![self] = "LongLabelNumberTwo"]

LongLabelNumberTwo(self) == /\ pc[self] = "LongLabelNumberTwo"
                            /\ x' = 2
                            /\ pc' = [pc EXCEPT ![self] = "LongLabelNumberThree"]

LongLabelNumberThree(self) == /\ pc[self] = "LongLabelNumberThree"
                              /\ x' = 3
                              /\ pc' = [pc EXCEPT ![self] = "LongLabelNumberFour"]

LongLabelNumberFour(self) == /\ pc[self] = "LongLabelNumberFour"
                             /\ x' = 4
                             /\ pc' = [pc EXCEPT ![self] = "LongLabelNumberFive"]

LongLabelNumberFive(self) == /\ pc[self] = "LongLabelNumberFive"
                             /\ x' = 5
                             /\ pc' = [pc EXCEPT ![self] = "LongLabelNumberSix"]

LongLabelNumberSix(self) == /\ pc[self] = "LongLabelNumberSix"
                            /\ x' = 6
                            /\ pc' = [pc EXCEPT ![self] = "Done"]

P(self) == LongLabelNumberOne(self) \/ LongLabelNumberTwo(self)
              \/ LongLabelNumberThree(self) \/ LongLabelNumberFour(self)
              \/ LongLabelNumberFive(self) \/ LongLabelNumberSix(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

