---- MODULE BoundedQueue ----
(***************************************************************************)
(* The reference for the hand-over queue.  A look at the buffer and what   *)
(* follows from it, waiting and signalling included, is one step under the *)
(* lock.  R1 to R10 are the guarantees 1 to 10 of guarantees.md.           *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Producers,         \* the producers: each is one process
  Consumers,         \* the consumers: each is one process
  Capacity,          \* how many items the buffer may hold
  ItemsPerProducer   \* how many items each producer puts

ASSUME /\ Producers # {} /\ Consumers # {} /\ Producers \cap Consumers = {}
       /\ Capacity >= 1 /\ ItemsPerProducer >= 1

(* --algorithm BoundedQueue
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
\* BEGIN TRANSLATION (chksum(pcal) = "7648f06" /\ chksum(tla) = "4dc4c4ac")
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
                             /\ UNCHANGED << holders, waitingConsumers, 
                                             finished >>
                        ELSE /\ IF Producers \subseteq finished
                                   THEN /\ finished' = (finished \union {self})
                                        /\ pc' = [pc EXCEPT ![self] = "LeaveTake"]
                                        /\ UNCHANGED << holders, 
                                                        waitingConsumers >>
                                   ELSE /\ waitingConsumers' = (waitingConsumers \union {self})
                                        /\ holders' = holders \ {self}
                                        /\ pc' = [pc EXCEPT ![self] = "EnterTake"]
                                        /\ UNCHANGED finished
                             /\ UNCHANGED << buffer, waitingProducers, taken >>
                  /\ UNCHANGED << accepted, nextNumber >>

LeaveTake(self) == /\ pc[self] = "LeaveTake"
                   /\ holders' = holders \ {self}
                   /\ IF self \notin finished
                         THEN /\ pc' = [pc EXCEPT ![self] = "EnterTake"]
                         ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                   /\ UNCHANGED << buffer, waitingProducers, waitingConsumers, 
                                   finished, accepted, taken, nextNumber >>

consuming(self) == EnterTake(self) \/ LookTake(self) \/ LeaveTake(self)

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

Threads == Producers \union Consumers
Numbers == 1..ItemsPerProducer
Items == [producer: Producers, number: Numbers]
Range(s) == {s[i] : i \in DOMAIN s}
NoRepeats(s) == \A i, j \in DOMAIN s : i # j => s[i] # s[j]

TypeOK ==
  /\ buffer \in Seq(Items)
  /\ holders \subseteq Threads
  /\ waitingProducers \subseteq Producers
  /\ waitingConsumers \subseteq Consumers
  /\ finished \subseteq Threads
  /\ accepted \in Seq(Items)
  /\ Len(accepted) <= Cardinality(Items)
  /\ taken \in Seq(Items)
  /\ Len(taken) <= Cardinality(Items)
  /\ nextNumber \in [Producers -> 1..(ItemsPerProducer + 1)]
  /\ \A p \in Producers : pc[p] \in {"EnterPut", "LookPut", "LeavePut", "Done"}
  /\ \A c \in Consumers : pc[c] \in {"EnterTake", "LookTake", "LeaveTake", "Done"}

\* covers R1
CapacityRespected == Len(buffer) <= Capacity

\* covers R2
MutualExclusion == Cardinality(holders) <= 1

\* covers R2
WaitersHoldNothing ==
  (waitingProducers \union waitingConsumers) \cap (holders \union finished) = {}

\* covers R3
NothingLost == Range(accepted) \subseteq Range(buffer) \union Range(taken)

\* covers R4
NothingTwice == NoRepeats(accepted) /\ NoRepeats(taken \o buffer)

\* covers R5
FifoPerProducer ==
  \A i, j \in DOMAIN taken :
    i < j /\ taken[i].producer = taken[j].producer => taken[i].number < taken[j].number

\* covers R6
AcceptanceOrder == taken \o buffer = accepted

\* covers R7
LeaveOnlyWhenDrained ==
  finished \cap Consumers # {} => Producers \subseteq finished /\ buffer = <<>>

\* covers R8
NoStandstill ==
  finished # Threads => ~(Threads \ finished \subseteq waitingProducers \union waitingConsumers)

\* covers R9
EveryItemTaken ==
  \A i \in Items : (i \in Range(accepted)) ~> (i \in Range(taken))

\* covers R10
AllFinish == <>(finished = Threads)

\* A producer waits because the buffer is full.
WitnessFull == Len(buffer) = Capacity /\ waitingProducers # {}

\* All consumers wait while a producer is at work.
WitnessAllConsumersWait == waitingConsumers = Consumers /\ holders # {}

\* A consumer still waits although there is an item: another one was woken or is active.
WitnessItemAndWaiter == buffer # <<>> /\ waitingConsumers # {} /\ holders = {}

\* A producer finds the buffer full after an item was taken: it was filled up again.
WitnessFullAgain ==
  /\ taken # <<>> /\ Len(buffer) = Capacity
  /\ \E p \in Producers : pc[p] = "LookPut" /\ nextNumber[p] <= ItemsPerProducer

\* The queue is closed and items are still in it.
WitnessClosedWithItems == Producers \subseteq finished /\ buffer # <<>>

\* All is over.
WitnessOver == finished = Threads /\ holders = {} /\ Len(taken) = Cardinality(Items)

====
