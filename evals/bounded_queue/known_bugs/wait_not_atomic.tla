---- MODULE wait_not_atomic ----
\* BUG: a consumer that finds the buffer empty releases the lock first and joins
\* the waiting set in a later step. A signal between the two is lost.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Producers,         \* the producers: each is one process
  Consumers,         \* the consumers: each is one process
  Capacity,          \* how many items the buffer may hold
  ItemsPerProducer   \* how many items each producer puts

ASSUME /\ Producers # {} /\ Consumers # {} /\ Producers \cap Consumers = {}
       /\ Capacity >= 1 /\ ItemsPerProducer >= 1

(* --algorithm wait_not_atomic
variables
  buffer = <<>>,          \* put and not yet taken, oldest first
  holders = {},           \* who holds the lock
  waitingProducers = {},  \* who waits for "not full"
  waitingConsumers = {},  \* who waits for "not empty"
  finished = {},          \* who has signed off
  accepted = <<>>,        \* history: all items put so far
  taken = <<>>;           \* history: all items taken so far

macro signal(waiting) begin
  if waiting # {} then
    with w \in waiting do
      waiting := waiting \ {w};
    end with;
  end if;
end macro;

fair process producing \in Producers
variables nextNumber = 1;
begin
EnterPut:
  await self \notin waitingProducers /\ holders = {};
  holders := {self};
LookPut:
  if nextNumber > ItemsPerProducer then
    finished := finished \union {self};
    if Producers \subseteq finished then
      waitingConsumers := {};
    end if;
  elsif Len(buffer) >= Capacity then
    waitingProducers := waitingProducers \union {self};
    holders := holders \ {self};
    goto EnterPut;
  else
    buffer := Append(buffer, [producer |-> self, number |-> nextNumber]);
    accepted := Append(accepted, [producer |-> self, number |-> nextNumber]);
    nextNumber := nextNumber + 1;
    signal(waitingConsumers);
  end if;
LeavePut:
  holders := holders \ {self};
  if self \notin finished then
    goto EnterPut;
  end if;
end process;

fair process consuming \in Consumers
begin
EnterTake:
  await self \notin waitingConsumers /\ holders = {};
  holders := {self};
LookTake:
  if buffer # <<>> then
    taken := Append(taken, Head(buffer));
    buffer := Tail(buffer);
    signal(waitingProducers);
  elsif Producers \subseteq finished then
    finished := finished \union {self};
  else
    holders := holders \ {self};
Sleep:
    waitingConsumers := waitingConsumers \union {self};
    goto EnterTake;
  end if;
LeaveTake:
  holders := holders \ {self};
  if self \notin finished then
    goto EnterTake;
  end if;
end process;

end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "ace478b7" /\ chksum(tla) = "865b96a5")
VARIABLES pc, buffer, holders, waitingProducers, waitingConsumers, finished, 
          accepted, taken, nextNumber

vars == << pc, buffer, holders, waitingProducers, waitingConsumers, finished, 
           accepted, taken, nextNumber >>

ProcSet == (Producers) \cup (Consumers)

Init == (* Global variables *)
        /\ buffer = <<>>
        /\ holders = {}
        /\ waitingProducers = {}
        /\ waitingConsumers = {}
        /\ finished = {}
        /\ accepted = <<>>
        /\ taken = <<>>
        (* Process producing *)
        /\ nextNumber = [self \in Producers |-> 1]
        /\ pc = [self \in ProcSet |-> CASE self \in Producers -> "EnterPut"
                                        [] self \in Consumers -> "EnterTake"]

EnterPut(self) == /\ pc[self] = "EnterPut"
                  /\ self \notin waitingProducers /\ holders = {}
                  /\ holders' = {self}
                  /\ pc' = [pc EXCEPT ![self] = "LookPut"]
                  /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                  finished, accepted, taken, nextNumber >>

LookPut(self) == /\ pc[self] = "LookPut"
                 /\ IF nextNumber[self] > ItemsPerProducer
                       THEN /\ finished' = (finished \union {self})
                            /\ IF Producers \subseteq finished'
                                  THEN /\ waitingConsumers' = {}
                                  ELSE /\ TRUE
                                       /\ UNCHANGED waitingConsumers
                            /\ pc' = [pc EXCEPT ![self] = "LeavePut"]
                            /\ UNCHANGED << buffer, holders, waitingProducers, 
                                            accepted, nextNumber >>
                       ELSE /\ IF Len(buffer) >= Capacity
                                  THEN /\ waitingProducers' = (waitingProducers \union {self})
                                       /\ holders' = holders \ {self}
                                       /\ pc' = [pc EXCEPT ![self] = "EnterPut"]
                                       /\ UNCHANGED << buffer, 
                                                       waitingConsumers, 
                                                       accepted, nextNumber >>
                                  ELSE /\ buffer' = Append(buffer, [producer |-> self, number |-> nextNumber[self]])
                                       /\ accepted' = Append(accepted, [producer |-> self, number |-> nextNumber[self]])
                                       /\ nextNumber' = [nextNumber EXCEPT ![self] = nextNumber[self] + 1]
                                       /\ IF waitingConsumers # {}
                                             THEN /\ \E w \in waitingConsumers:
                                                       waitingConsumers' = waitingConsumers \ {w}
                                             ELSE /\ TRUE
                                                  /\ UNCHANGED waitingConsumers
                                       /\ pc' = [pc EXCEPT ![self] = "LeavePut"]
                                       /\ UNCHANGED << holders, 
                                                       waitingProducers >>
                            /\ UNCHANGED finished
                 /\ taken' = taken

LeavePut(self) == /\ pc[self] = "LeavePut"
                  /\ holders' = holders \ {self}
                  /\ IF self \notin finished
                        THEN /\ pc' = [pc EXCEPT ![self] = "EnterPut"]
                        ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                  /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                  finished, accepted, taken, nextNumber >>

producing(self) == EnterPut(self) \/ LookPut(self) \/ LeavePut(self)

EnterTake(self) == /\ pc[self] = "EnterTake"
                   /\ self \notin waitingConsumers /\ holders = {}
                   /\ holders' = {self}
                   /\ pc' = [pc EXCEPT ![self] = "LookTake"]
                   /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                   finished, accepted, taken, nextNumber >>

LookTake(self) == /\ pc[self] = "LookTake"
                  /\ IF buffer # <<>>
                        THEN /\ taken' = Append(taken, Head(buffer))
                             /\ buffer' = Tail(buffer)
                             /\ IF waitingProducers # {}
                                   THEN /\ \E w \in waitingProducers:
                                             waitingProducers' = waitingProducers \ {w}
                                   ELSE /\ TRUE
                                        /\ UNCHANGED waitingProducers
                             /\ pc' = [pc EXCEPT ![self] = "LeaveTake"]
                             /\ UNCHANGED << holders, finished >>
                        ELSE /\ IF Producers \subseteq finished
                                   THEN /\ finished' = (finished \union {self})
                                        /\ pc' = [pc EXCEPT ![self] = "LeaveTake"]
                                        /\ UNCHANGED holders
                                   ELSE /\ holders' = holders \ {self}
                                        /\ pc' = [pc EXCEPT ![self] = "Sleep"]
                                        /\ UNCHANGED finished
                             /\ UNCHANGED << buffer, waitingProducers, taken >>
                  /\ UNCHANGED << waitingConsumers, accepted, nextNumber >>

Sleep(self) == /\ pc[self] = "Sleep"
               /\ waitingConsumers' = (waitingConsumers \union {self})
               /\ pc' = [pc EXCEPT ![self] = "EnterTake"]
               /\ UNCHANGED << buffer, holders, waitingProducers, finished, 
                               accepted, taken, nextNumber >>

LeaveTake(self) == /\ pc[self] = "LeaveTake"
                   /\ holders' = holders \ {self}
                   /\ IF self \notin finished
                         THEN /\ pc' = [pc EXCEPT ![self] = "EnterTake"]
                         ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                   /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                   finished, accepted, taken, nextNumber >>

consuming(self) == EnterTake(self) \/ LookTake(self) \/ Sleep(self)
                      \/ LeaveTake(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in Producers: producing(self))
           \/ (\E self \in Consumers: consuming(self))
           \/ Terminating

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Producers : WF_vars(producing(self))
        /\ \A self \in Consumers : WF_vars(consuming(self))

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION 

====
