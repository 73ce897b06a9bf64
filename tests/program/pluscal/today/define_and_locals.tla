VARIABLES pc, shared, other

(* define statement *)
Small == shared < 10

VARIABLE mine

vars == << pc, shared, other, mine >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ shared = 0
        /\ other \in {1, 2}
        (* Process Worker *)
        /\ mine = [self \in 1..2 |-> 0]
        /\ pc = [self \in ProcSet |-> "Work"]

Work(self) == /\ pc[self] = "Work"
              /\ mine' = [mine EXCEPT ![self] = shared]
              /\ pc' = [pc EXCEPT ![self] = "Give"]
              /\ UNCHANGED << shared, other >>

Give(self) == /\ pc[self] = "Give"
              /\ shared' = mine[self] + 1
              /\ pc' = [pc EXCEPT ![self] = "Done"]
              /\ UNCHANGED << other, mine >>

Worker(self) == Work(self) \/ Give(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: Worker(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

