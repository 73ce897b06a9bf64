VARIABLES pc, firstName, secondName, thirdName, localName

vars == << pc, firstName, secondName, thirdName, localName >>

ProcSet == (1..2)

Init == (* Global variables *)
        /\ firstName = 0
        /\ secondName = 0
        /\ thirdName = 0
        (* Process Worker *)
        /\ localName = [self \in 1..2 |-> 0]
        /\ pc = [self \in ProcSet |-> "A"]

A(self) == /\ pc[self] = "A"
           /\ IF firstName = secondName
                 THEN /\ thirdName' = localName[self] + firstName + secondName
                 ELSE /\ TRUE
                      /\ UNCHANGED thirdName
           /\ pc' = [pc EXCEPT ![self] = "B"]
           /\ UNCHANGED << firstName, secondName, localName >>

B(self) == /\ pc[self] = "B"
           /\ localName' = [localName EXCEPT ![self] = thirdName]
           /\ pc' = [pc EXCEPT ![self] = "Done"]
           /\ UNCHANGED << firstName, secondName, thirdName >>

Worker(self) == A(self) \/ B(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..2: Worker(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

