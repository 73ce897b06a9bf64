CONSTANT defaultInitValue
VARIABLES pc, x, stack, l, m

vars == << pc, x, stack, l, m >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ x = 0
        (* Procedure Low *)
        /\ l = [ self \in ProcSet |-> defaultInitValue]
        (* Procedure Mid *)
        /\ m = [ self \in ProcSet |-> defaultInitValue]
        /\ stack = [self \in ProcSet |-> << >>]
        /\ pc = [self \in ProcSet |-> "P1"]

L1(self) == /\ pc[self] = "L1"
            /\ x' = l[self]
            /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
            /\ l' = [l EXCEPT ![self] = Head(stack[self]).l]
            /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
            /\ m' = m

Low(self) == L1(self)

M1(self) == /\ pc[self] = "M1"
            /\ /\ l' = [l EXCEPT ![self] = m[self] + 1]
               /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "Low",
                                                        pc        |->  "M2",
                                                        l         |->  l[self] ] >>
                                                    \o stack[self]]
            /\ pc' = [pc EXCEPT ![self] = "L1"]
            /\ UNCHANGED << x, m >>

M2(self) == /\ pc[self] = "M2"
            /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
            /\ m' = [m EXCEPT ![self] = Head(stack[self]).m]
            /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
            /\ UNCHANGED << x, l >>

Mid(self) == M1(self) \/ M2(self)

H1(self) == /\ pc[self] = "H1"
            /\ /\ m' = [m EXCEPT ![self] = 1]
               /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "Mid",
                                                        pc        |->  "H2",
                                                        m         |->  m[self] ] >>
                                                    \o stack[self]]
            /\ pc' = [pc EXCEPT ![self] = "M1"]
            /\ UNCHANGED << x, l >>

H2(self) == /\ pc[self] = "H2"
            /\ /\ l' = [l EXCEPT ![self] = 2]
               /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "Low",
                                                        pc        |->  Head(stack[self]).pc,
                                                        l         |->  l[self] ] >>
                                                    \o Tail(stack[self])]
            /\ pc' = [pc EXCEPT ![self] = "L1"]
            /\ UNCHANGED << x, m >>

High(self) == H1(self) \/ H2(self)

P1(self) == /\ pc[self] = "P1"
            /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "High",
                                                     pc        |->  "P2" ] >>
                                                 \o stack[self]]
            /\ pc' = [pc EXCEPT ![self] = "H1"]
            /\ UNCHANGED << x, l, m >>

P2(self) == /\ pc[self] = "P2"
            /\ x' = 0
            /\ pc' = [pc EXCEPT ![self] = "Done"]
            /\ UNCHANGED << stack, l, m >>

P(self) == P1(self) \/ P2(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in ProcSet: Low(self) \/ Mid(self) \/ High(self))
           \/ (\E self \in 1..2: P(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in 1..2 : /\ WF_vars(P(self))
                              /\ WF_vars(High(self))
                              /\ WF_vars(Low(self))
                              /\ WF_vars(Mid(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

