VARIABLES pc, someCollection, anotherCollection, counterOfThings, 
          privateCounterOfThisProcess, privateCollectionOfThisProcess

vars == << pc, someCollection, anotherCollection, counterOfThings, 
           privateCounterOfThisProcess, privateCollectionOfThisProcess >>

ProcSet == (1..3)

Init == (* Global variables *)
        /\ someCollection = {}
        /\ anotherCollection = {}
        /\ counterOfThings = 0
        (* Process WorkerWithALongName *)
        /\ privateCounterOfThisProcess = [self \in 1..3 |-> 0]
        /\ privateCollectionOfThisProcess = [self \in 1..3 |-> {}]
        /\ pc = [self \in ProcSet |-> "FirstStep"]

FirstStep(self) == /\ pc[self] = "FirstStep"
                   /\ someCollection' = (someCollection \cup {self, counterOfThings, privateCounterOfThisProcess[self]} \cup anotherCollection)
                   /\ pc' = [pc EXCEPT ![self] = "SecondStep"]
                   /\ UNCHANGED << anotherCollection, counterOfThings, 
                                   privateCounterOfThisProcess, 
                                   privateCollectionOfThisProcess >>

SecondStep(self) == /\ pc[self] = "SecondStep"
                    /\ IF counterOfThings > 3
                          THEN /\ counterOfThings' = 0
                               /\ privateCollectionOfThisProcess' = [privateCollectionOfThisProcess EXCEPT ![self] = anotherCollection]
                          ELSE /\ TRUE
                               /\ UNCHANGED << counterOfThings, 
                                               privateCollectionOfThisProcess >>
                    /\ pc' = [pc EXCEPT ![self] = "ThirdStep"]
                    /\ UNCHANGED << someCollection, anotherCollection, 
                                    privateCounterOfThisProcess >>

ThirdStep(self) == /\ pc[self] = "ThirdStep"
                   /\ privateCounterOfThisProcess' = [privateCounterOfThisProcess EXCEPT ![self] = Cardinality(privateCollectionOfThisProcess[self]) + Cardinality(someCollection) + 1]
                   /\ pc' = [pc EXCEPT ![self] = "Done"]
                   /\ UNCHANGED << someCollection, anotherCollection, 
                                   counterOfThings, 
                                   privateCollectionOfThisProcess >>

WorkerWithALongName(self) == FirstStep(self) \/ SecondStep(self)
                                \/ ThirdStep(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in 1..3: WorkerWithALongName(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

