CONSTANT defaultInitValue
VARIABLES pc, x, stack, a, loc

vars == << pc, x, stack, a, loc >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ x = 0
        (* Procedure P *)
        /\ a = [ self \in ProcSet |-> defaultInitValue]
        /\ loc = [ self \in ProcSet |-> 0]
        /\ stack = [self \in ProcSet |-> << >>]
        /\ pc = [self \in ProcSet |-> "Q1"]

P1(self) == /\ pc[self] = "P1"
            /\ IF a[self] = 0
                  THEN /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
                       /\ loc' = [loc EXCEPT ![self] = Head(stack[self]).loc]
                       /\ a' = [a EXCEPT ![self] = Head(stack[self]).a]
                       /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
                       /\ x' = x
                  ELSE /\ IF a[self] = 1
                             THEN /\ x' = 1
                                  /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
                                  /\ loc' = [loc EXCEPT ![self] = Head(stack[self]).loc]
                                  /\ a' = [a EXCEPT ![self] = Head(stack[self]).a]
                                  /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
                             ELSE /\ loc' = [loc EXCEPT ![self] = a[self]]
                                  /\ pc' = [pc EXCEPT ![self] = "P2"]
                                  /\ UNCHANGED << x, stack, a >>

P2(self) == /\ pc[self] = "P2"
            /\ \/ /\ loc[self] > 2
                  /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
                  /\ loc' = [loc EXCEPT ![self] = Head(stack[self]).loc]
                  /\ a' = [a EXCEPT ![self] = Head(stack[self]).a]
                  /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
                  /\ x' = x
               \/ /\ x' = loc[self]
                  /\ pc' = [pc EXCEPT ![self] = "P3"]
                  /\ UNCHANGED <<stack, a, loc>>

P3(self) == /\ pc[self] = "P3"
            /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
            /\ loc' = [loc EXCEPT ![self] = Head(stack[self]).loc]
            /\ a' = [a EXCEPT ![self] = Head(stack[self]).a]
            /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
            /\ x' = x

P(self) == P1(self) \/ P2(self) \/ P3(self)

Q1(self) == /\ pc[self] = "Q1"
            /\ /\ a' = [a EXCEPT ![self] = self]
               /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "P",
                                                        pc        |->  "Done",
                                                        loc       |->  loc[self],
                                                        a         |->  a[self] ] >>
                                                    \o stack[self]]
            /\ loc' = [loc EXCEPT ![self] = 0]
            /\ pc' = [pc EXCEPT ![self] = "P1"]
            /\ x' = x

Q(self) == Q1(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in ProcSet: P(self))
           \/ (\E self \in 1..2: Q(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

