\* Label A of procedure P at line 7 col 6 changed to A_
\* Label B of procedure P at line 8 col 6 changed to B_
VARIABLES pc, x, stack

vars == << pc, x, stack >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ x = 0
        /\ stack = [self \in ProcSet |-> << >>]
        /\ pc = [self \in ProcSet |-> "A"]

A_(self) == /\ pc[self] = "A_"
            /\ x' = 1
            /\ pc' = [pc EXCEPT ![self] = "B_"]
            /\ stack' = stack

B_(self) == /\ pc[self] = "B_"
            /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
            /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
            /\ x' = x

P(self) == A_(self) \/ B_(self)

A(self) == /\ pc[self] = "A"
           /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "P",
                                                    pc        |->  "B" ] >>
                                                \o stack[self]]
           /\ pc' = [pc EXCEPT ![self] = "A_"]
           /\ x' = x

B(self) == /\ pc[self] = "B"
           /\ x' = 0
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ stack' = stack

Q(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in ProcSet: P(self))
           \/ (\E self \in 1..2: Q(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

