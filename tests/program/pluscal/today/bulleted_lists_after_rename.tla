VARIABLES pc, go, t, verylongname

vars == << pc, go, t, verylongname >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ go = FALSE
        (* Process P *)
        /\ t = [self \in 1..2 |-> 0]
        /\ verylongname = [self \in 1..2 |-> 1]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ /\ t[self] = 0
              /\ verylongname[self] = 1 => \/ go
                                           \/ t[self] < 3
              /\ t[self] + verylongname[self] < 5
           /\ t' = [t EXCEPT ![self] = IF /\ t[self] = 0 /\ go
                                          /\ verylongname[self] = 1 THEN 1
                                       ELSE 2]
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << go, verylongname >>

B(self) == /\ pc[self] = "B"
           /\ verylongname' = [verylongname EXCEPT ![self] = t[self]]
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << go, t >>

P(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

