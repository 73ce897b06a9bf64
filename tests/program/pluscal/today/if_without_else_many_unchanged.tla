VARIABLES pc, a, b, c, l, m

vars == << pc, a, b, c, l, m >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ a = 0
        /\ b = 0
        /\ c = 0
        (* Process P *)
        /\ l = [self \in 1..2 |-> 0]
        /\ m = [self \in 1..2 |-> 0]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ IF a = 0
                 THEN /\ l' = [l EXCEPT ![self] = 1]
                      /\ UNCHANGED << c, m >>
                 ELSE /\ IF b = 0
                            THEN /\ m' = [m EXCEPT ![self] = 2]
                                 /\ c' = 1
                            ELSE /\ TRUE
                                 /\ UNCHANGED << c, m >>
                      /\ l' = l
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << a, b >>

B(self) == /\ pc[self] = "B"
           /\ IF l[self] = 1
                 THEN /\ pc' = [pc EXCEPT ![self] = "C"]
                 ELSE /\ pc' = [pc EXCEPT ![self] = "D"]
           /\ UNCHANGED << a, b, c, l, m >>

C(self) == /\ pc[self] = "C"
           /\ a' = 2
           /\ pc' = [pc EXCEPT ![self] = "D"]
           /\ UNCHANGED << b, c, l, m >>

D(self) == /\ pc[self] = "D"
           /\ \E z \in {1, 2}:
                IF z = 1
                   THEN /\ b' = z
                        /\ m' = m
                   ELSE /\ m' = [m EXCEPT ![self] = z]
                        /\ b' = b
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << a, c, l >>

P(self) == A(self) \/ B(self) \/ C(self) \/ D(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

