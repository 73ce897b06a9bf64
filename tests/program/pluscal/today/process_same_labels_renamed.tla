\* Label Start of process P at line 7 col 10 changed to Start_
\* Label Stop of process P at line 8 col 9 changed to Stop_
VARIABLES pc, x

vars == << pc, x >>

ProcSet == (1..2) \cup {3}

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "Start_"
                                        [] self = 3 -> "Start"]

Start_(self) == /\ pc[self] = "Start_"
                /\ x' = 1
                /\ pc' = [pc EXCEPT ![self] = "Stop_"]

Stop_(self) == /\ pc[self] = "Stop_"
               /\ TRUE
               /\ pc' = [pc EXCEPT ![self] = "Done"]
               /\ x' = x

P(self) == Start_(self) \/ Stop_(self)

Start == /\ pc[3] = "Start"
         /\ x' = 2
         /\ pc' = [pc EXCEPT ![3] = "Stop"]

Stop == /\ pc[3] = "Stop"
        /\ pc' = [pc EXCEPT ![3] = "Start"]
        /\ x' = x

Q == Start \/ Stop

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Q
           \/ (\E self \in 1..2: P(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

