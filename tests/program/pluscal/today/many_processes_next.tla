VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2) \cup (3..4) \cup {5} \cup {6} \cup (7..9)

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "A1"
                                        [] self \in 3..4 -> "A2"
                                        [] self = 5 -> "A3"
                                        [] self = 6 -> "A4"
                                        [] self \in 7..9 -> "A5"]

A1(self) == /\ pc[self] = "A1"
            /\ x' = 1
            /\ pc' = [pc EXCEPT ![self] = "Done"]

ProcessWithLongName1(self) == A1(self)

A2(self) == /\ pc[self] = "A2"
            /\ x' = 1
            /\ pc' = [pc EXCEPT ![self] = "Done"]

ProcessWithLongName2(self) == A2(self)

A3 == /\ pc[5] = "A3"
      /\ x' = 1
      /\ pc' = [pc EXCEPT ![5] = "Done"]

ProcessWithLongName3 == A3

A4 == /\ pc[6] = "A4"
      /\ x' = 1
      /\ pc' = [pc EXCEPT ![6] = "Done"]

ProcessWithLongName4 == A4

A5(self) == /\ pc[self] = "A5"
            /\ x' = 1
            /\ pc' = [pc EXCEPT ![self] = "A6"]

A6(self) == /\ pc[self] = "A6"
            /\ x' = 2
            /\ pc' = [pc EXCEPT ![self] = "Done"]

ProcessWithLongName5(self) == A5(self) \/ A6(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == ProcessWithLongName3 \/ ProcessWithLongName4
           \/ (\E self \in 1..2: ProcessWithLongName1(self))
           \/ (\E self \in 3..4: ProcessWithLongName2(self))
           \/ (\E self \in 7..9: ProcessWithLongName5(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

