---- MODULE separate_front_and_pop ----
\* BUG: a consumer reads the oldest item under the lock, releases the lock, and
\* removes the head later. Two consumers may read the same item.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Producers,         \* the producers: each is one process
  Consumers,         \* the consumers: each is one process
  Capacity,          \* how many items the buffer may hold
  ItemsPerProducer   \* how many items each producer puts

ASSUME /\ Producers # {} /\ Consumers # {} /\ Producers \cap Consumers = {}
       /\ Capacity >= 1 /\ ItemsPerProducer >= 1

(* --algorithm separate_front_and_pop
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
variables frontItem = <<>>;
begin
EnterTake:
  await self \notin waitingConsumers /\ holders = {};
  holders := {self};
LookTake:
  if buffer # <<>> then
    frontItem := <<Head(buffer)>>;
    holders := holders \ {self};
EnterPop:
    await holders = {};
    holders := {self};
Pop:
    taken := taken \o frontItem;
    frontItem := <<>>;
    if buffer # <<>> then
      buffer := Tail(buffer);
    end if;
    signal(waitingProducers);
  elsif Producers \subseteq finished then
    finished := finished \union {self};
  else
    waitingConsumers := waitingConsumers \union {self};
    holders := holders \ {self};
    goto EnterTake;
  end if;
LeaveTake:
  holders := holders \ {self};
  if self \notin finished then
    goto EnterTake;
  end if;
end process;

end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "23b377c3" /\ chksum(tla) = "bc392a06")
VARIABLES pc, buffer, holders, waitingProducers, waitingConsumers, finished, 
          accepted, taken, nextNumber, frontItem

vars == << pc, buffer, holders, waitingProducers, waitingConsumers, finished, 
           accepted, taken, nextNumber, frontItem >>

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
        (* Process consuming *)
        /\ frontItem = [self \in Consumers |-> <<>>]
        /\ pc = [self \in ProcSet |-> CASE self \in Producers -> "EnterPut"
                                        [] self \in Consumers -> "EnterTake"]

EnterPut(self) == /\ pc[self] = "EnterPut"
                  /\ self \notin waitingProducers /\ holders = {}
                  /\ holders' = {self}
                  /\ pc' = [pc EXCEPT ![self] = "LookPut"]
                  /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                  finished, accepted, taken, nextNumber, 
                                  frontItem >>

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
                 /\ UNCHANGED << taken, frontItem >>

LeavePut(self) == /\ pc[self] = "LeavePut"
                  /\ holders' = holders \ {self}
                  /\ IF self \notin finished
                        THEN /\ pc' = [pc EXCEPT ![self] = "EnterPut"]
                        ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                  /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                  finished, accepted, taken, nextNumber, 
                                  frontItem >>

producing(self) == EnterPut(self) \/ LookPut(self) \/ LeavePut(self)

EnterTake(self) == /\ pc[self] = "EnterTake"
                   /\ self \notin waitingConsumers /\ holders = {}
                   /\ holders' = {self}
                   /\ pc' = [pc EXCEPT ![self] = "LookTake"]
                   /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                   finished, accepted, taken, nextNumber, 
                                   frontItem >>

LookTake(self) == /\ pc[self] = "LookTake"
                  /\ IF buffer # <<>>
                        THEN /\ frontItem' = [frontItem EXCEPT ![self] = <<Head(buffer)>>]
                             /\ holders' = holders \ {self}
                             /\ pc' = [pc EXCEPT ![self] = "EnterPop"]
                             /\ UNCHANGED << waitingConsumers, finished >>
                        ELSE /\ IF Producers \subseteq finished
                                   THEN /\ finished' = (finished \union {self})
                                        /\ pc' = [pc EXCEPT ![self] = "LeaveTake"]
                                        /\ UNCHANGED << holders, 
                                                        waitingConsumers >>
                                   ELSE /\ waitingConsumers' = (waitingConsumers \union {self})
                                        /\ holders' = holders \ {self}
                                        /\ pc' = [pc EXCEPT ![self] = "EnterTake"]
                                        /\ UNCHANGED finished
                             /\ UNCHANGED frontItem
                  /\ UNCHANGED << buffer, waitingProducers, accepted, taken, 
                                  nextNumber >>

EnterPop(self) == /\ pc[self] = "EnterPop"
                  /\ holders = {}
                  /\ holders' = {self}
                  /\ pc' = [pc EXCEPT ![self] = "Pop"]
                  /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                  finished, accepted, taken, nextNumber, 
                                  frontItem >>

Pop(self) == /\ pc[self] = "Pop"
             /\ taken' = taken \o frontItem[self]
             /\ frontItem' = [frontItem EXCEPT ![self] = <<>>]
             /\ IF buffer # <<>>
                   THEN /\ buffer' = Tail(buffer)
                   ELSE /\ TRUE
                        /\ UNCHANGED buffer
             /\ IF waitingProducers # {}
                   THEN /\ \E w \in waitingProducers:
                             waitingProducers' = waitingProducers \ {w}
                   ELSE /\ TRUE
                        /\ UNCHANGED waitingProducers
             /\ pc' = [pc EXCEPT ![self] = "LeaveTake"]
             /\ UNCHANGED << holders, waitingConsumers, finished, accepted, 
                             nextNumber >>

LeaveTake(self) == /\ pc[self] = "LeaveTake"
                   /\ holders' = holders \ {self}
                   /\ IF self \notin finished
                         THEN /\ pc' = [pc EXCEPT ![self] = "EnterTake"]
                         ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                   /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                   finished, accepted, taken, nextNumber, 
                                   frontItem >>

consuming(self) == EnterTake(self) \/ LookTake(self) \/ EnterPop(self)
                      \/ Pop(self) \/ LeaveTake(self)

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
