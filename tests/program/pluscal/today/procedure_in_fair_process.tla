CONSTANT defaultInitValue
VARIABLES pc, x, stack, k

vars == << pc, x, stack, k >>

ProcSet == {"p"} \cup ({"q", "r"}) \cup {"none"}

Init == (* Global variables *)
        /\ x = 0
        (* Procedure Up *)
        /\ k = [ self \in ProcSet |-> defaultInitValue]
        /\ stack = [self \in ProcSet |-> << >>]
        /\ pc = [self \in ProcSet |-> CASE self = "p" -> "P1"
                                        [] self \in {"q", "r"} -> "Q1"
                                        [] self = "none" -> "R1"]

U1(self) == /\ pc[self] = "U1"
            /\ x' = x + k[self]
            /\ pc' = [pc EXCEPT ![self] = "U2"]
            /\ UNCHANGED << stack, k >>

U2(self) == /\ pc[self] = "U2"
            /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
            /\ k' = [k EXCEPT ![self] = Head(stack[self]).k]
            /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
            /\ x' = x

Up(self) == U1(self) \/ U2(self)

P1 == /\ pc["p"] = "P1"
      /\ /\ k' = [k EXCEPT !["p"] = 1]
         /\ stack' = [stack EXCEPT !["p"] = << [ procedure |->  "Up",
                                                 pc        |->  "Done",
                                                 k         |->  k["p"] ] >>
                                             \o stack["p"]]
      /\ pc' = [pc EXCEPT !["p"] = "U1"]
      /\ x' = x

P == P1

Q1(self) == /\ pc[self] = "Q1"
            /\ /\ k' = [k EXCEPT ![self] = 2]
               /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "Up",
                                                        pc        |->  "Done",
                                                        k         |->  k[self] ] >>
                                                    \o stack[self]]
            /\ pc' = [pc EXCEPT ![self] = "U1"]
            /\ x' = x

Q(self) == Q1(self)

R1 == /\ pc["none"] = "R1"
      /\ /\ k' = [k EXCEPT !["none"] = 3]
         /\ stack' = [stack EXCEPT !["none"] = << [ procedure |->  "Up",
                                                    pc        |->  "Done",
                                                    k         |->  k["none"] ] >>
                                                \o stack["none"]]
      /\ pc' = [pc EXCEPT !["none"] = "U1"]
      /\ x' = x

R == R1

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == P \/ R
           \/ (\E self \in ProcSet: Up(self))
           \/ (\E self \in {"q", "r"}: Q(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(P) /\ WF_vars((pc["p"] # "U1") /\ Up("p")) /\ SF_vars(U2("p"))
        /\ \A self \in {"q", "r"} : SF_vars(Q(self)) /\ SF_vars((pc[self] # "U1") /\ Up(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

