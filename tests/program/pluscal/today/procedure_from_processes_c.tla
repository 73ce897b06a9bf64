CONSTANT defaultInitValue
VARIABLES pc, log, stack, w, copy

vars == << pc, log, stack, w, copy >>

ProcSet == (1..2) \cup {3}

Init == (* Global variables *)
        /\ log = <<>>
        (* Procedure Write *)
        /\ w = [ self \in ProcSet |-> defaultInitValue]
        /\ copy = [ self \in ProcSet |-> w[self]]
        /\ stack = [self \in ProcSet |-> << >>]
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "A1"
                                        [] self = 3 -> "B1"]

W1(self) == /\ pc[self] = "W1"
            /\ log' = Append(log, <<self, copy[self]>>)
            /\ pc' = [pc EXCEPT ![self] = "W2"]
            /\ UNCHANGED << stack, w, copy >>

W2(self) == /\ pc[self] = "W2"
            /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
            /\ copy' = [copy EXCEPT ![self] = Head(stack[self]).copy]
            /\ w' = [w EXCEPT ![self] = Head(stack[self]).w]
            /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]
            /\ log' = log

Write(self) == W1(self) \/ W2(self)

A1(self) == /\ pc[self] = "A1"
            /\ /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "Write",
                                                        pc        |->  "Done",
                                                        copy      |->  copy[self],
                                                        w         |->  w[self] ] >>
                                                    \o stack[self]]
               /\ w' = [w EXCEPT ![self] = "a"]
            /\ copy' = [copy EXCEPT ![self] = w'[self]]
            /\ pc' = [pc EXCEPT ![self] = "W1"]
            /\ log' = log

A(self) == A1(self)

B1 == /\ pc[3] = "B1"
      /\ /\ stack' = [stack EXCEPT ![3] = << [ procedure |->  "Write",
                                               pc        |->  "B2",
                                               copy      |->  copy[3],
                                               w         |->  w[3] ] >>
                                           \o stack[3]]
         /\ w' = [w EXCEPT ![3] = "b"]
      /\ copy' = [copy EXCEPT ![3] = w'[3]]
      /\ pc' = [pc EXCEPT ![3] = "W1"]
      /\ log' = log

B2 == /\ pc[3] = "B2"
      /\ /\ stack' = [stack EXCEPT ![3] = << [ procedure |->  "Write",
                                               pc        |->  "Done",
                                               copy      |->  copy[3],
                                               w         |->  w[3] ] >>
                                           \o stack[3]]
         /\ w' = [w EXCEPT ![3] = "c"]
      /\ copy' = [copy EXCEPT ![3] = w'[3]]
      /\ pc' = [pc EXCEPT ![3] = "W1"]
      /\ log' = log

B == B1 \/ B2

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == B
           \/ (\E self \in ProcSet: Write(self))
           \/ (\E self \in 1..2: A(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

