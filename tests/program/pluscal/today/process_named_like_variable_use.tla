VARIABLES pc, turn, other

vars == << pc, turn, other >>

ProcSet == ({1, 2})

Init == (* Global variables *)
        /\ turn = 1
        (* Process proc *)
        /\ other = [self \in {1, 2} |-> 3 - self]
        /\ pc = [self \in ProcSet |-> "ncs"]

ncs(self) == /\ pc[self] = "ncs"
             /\ TRUE
             /\ pc' = [pc EXCEPT ![self] = "enter"]
             /\ UNCHANGED << turn, other >>

enter(self) == /\ pc[self] = "enter"
               /\ turn' = other[self]
               /\ pc' = [pc EXCEPT ![self] = "wait"]
               /\ other' = other

wait(self) == /\ pc[self] = "wait"
              /\ turn = self
              /\ pc' = [pc EXCEPT ![self] = "cs"]
              /\ UNCHANGED << turn, other >>

cs(self) == /\ pc[self] = "cs"
            /\ TRUE
            /\ pc' = [pc EXCEPT ![self] = "ncs"]
            /\ UNCHANGED << turn, other >>

proc(self) == ncs(self) \/ enter(self) \/ wait(self) \/ cs(self)

Next == (\E self \in {1, 2}: proc(self))

Spec == Init /\ [][Next]_vars

