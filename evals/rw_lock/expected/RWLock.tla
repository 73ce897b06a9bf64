---- MODULE RWLock ----
(***************************************************************************)
(* The reference for the read-write lock.  Every request, withdrawal,      *)
(* crash, grant, release and expiry is one step.                           *)
(*                                                                         *)
(* The requirements, and where the documents state them:                   *)
(*   R1  guarantees.md 1  writers are alone                                *)
(*   R2  guarantees.md 2  nobody uses the lock unrecorded                  *)
(*   R3  guarantees.md 3  the records are honest                           *)
(*   R4  guarantees.md 4  first come, first served                         *)
(*   R5  guarantees.md 5  the queue is the order of arrival                *)
(*   R6  guarantees.md 6  no writer waits for ever                         *)
(*   R7  guarantees.md 7  no reader waits for ever                         *)
(*   R8  guarantees.md 8  crashes are cleared away                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Readers,   \* the clients that ask in order to read
  Writers    \* the clients that ask in order to write

Clients == Readers \union Writers

Without(s, c) == LET other(d) == d # c IN SelectSeq(s, other)

Range(s) == {s[i] : i \in 1..Len(s)}

ASSUME Readers \intersect Writers = {}

(* --algorithm RWLock
variables
  state = [c \in Clients |-> "idle"],
  queue = <<>>,      \* waiting for the grant, the front first
  holders = {},      \* the clients that the manager has granted the lock
  arrivals = <<>>;   \* the outstanding requests, oldest first

define
  CanGrant(c) ==
    IF c \in Readers THEN holders \intersect Writers = {} ELSE holders = {}
end define;

\* What nobody is obliged to do: ask, give up, crash.
process environment = "environment"
begin
Environment:
  while TRUE do
    with c \in Clients do
      either \* request
        await state[c] = "idle";
        queue := Append(queue, c);
        arrivals := Append(arrivals, c);
        state[c] := "waiting";
      or \* withdraw
        await state[c] = "waiting";
        queue := Without(queue, c);
        arrivals := Without(arrivals, c);
        state[c] := "idle";
      or \* crash
        await state[c] \in {"waiting", "holding"};
        state[c] := "crashed";
      end either;
    end with;
  end while;
end process;

fair process manager = "manager"
begin
Grant:
  while TRUE do
    await queue # <<>>;
    with c = Head(queue) do
      await CanGrant(c);
      queue := Tail(queue);
      arrivals := Without(arrivals, c);
      holders := holders \union {c};
      if state[c] = "waiting" then
        state[c] := "holding";
      end if;
    end with;
  end while;
end process;

fair process client \in Clients
begin
Client:
  while TRUE do
    either \* release
      await state[self] = "holding";
      holders := holders \ {self};
      state[self] := "idle";
    or \* the session of a crashed client expires
      await state[self] = "crashed";
      queue := Without(queue, self);
      arrivals := Without(arrivals, self);
      holders := holders \ {self};
      state[self] := "idle";
    end either;
  end while;
end process;

end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "dcaa23b4" /\ chksum(tla) = "ac99c3b7")
VARIABLES state, queue, holders, arrivals

(* define statement *)
CanGrant(c) ==
  IF c \in Readers THEN holders \intersect Writers = {} ELSE holders = {}


vars == << state, queue, holders, arrivals >>

ProcSet == {"environment"} \cup {"manager"} \cup (Clients)

Init == (* Global variables *)
        /\ state = [c \in Clients |-> "idle"]
        /\ queue = <<>>
        /\ holders = {}
        /\ arrivals = <<>>

environment == /\ \E c \in Clients:
                    \/ /\ state[c] = "idle"
                       /\ queue' = Append(queue, c)
                       /\ arrivals' = Append(arrivals, c)
                       /\ state' = [state EXCEPT ![c] = "waiting"]
                    \/ /\ state[c] = "waiting"
                       /\ queue' = Without(queue, c)
                       /\ arrivals' = Without(arrivals, c)
                       /\ state' = [state EXCEPT ![c] = "idle"]
                    \/ /\ state[c] \in {"waiting", "holding"}
                       /\ state' = [state EXCEPT ![c] = "crashed"]
                       /\ UNCHANGED <<queue, arrivals>>
               /\ UNCHANGED holders

manager == /\ queue # <<>>
           /\ LET c == Head(queue) IN
                /\ CanGrant(c)
                /\ queue' = Tail(queue)
                /\ arrivals' = Without(arrivals, c)
                /\ holders' = (holders \union {c})
                /\ IF state[c] = "waiting"
                      THEN /\ state' = [state EXCEPT ![c] = "holding"]
                      ELSE /\ TRUE
                           /\ state' = state

client(self) == \/ /\ state[self] = "holding"
                   /\ holders' = holders \ {self}
                   /\ state' = [state EXCEPT ![self] = "idle"]
                   /\ UNCHANGED <<queue, arrivals>>
                \/ /\ state[self] = "crashed"
                   /\ queue' = Without(queue, self)
                   /\ arrivals' = Without(arrivals, self)
                   /\ holders' = holders \ {self}
                   /\ state' = [state EXCEPT ![self] = "idle"]

Next == environment \/ manager
           \/ (\E self \in Clients: client(self))

Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(manager)
        /\ \A self \in Clients : WF_vars(client(self))

\* END TRANSLATION 

Sequenced(s) == \A i, j \in 1..Len(s) : s[i] = s[j] => i = j

Lists == UNION {[1..n -> Clients] : n \in 0..Cardinality(Clients)}

TypeOK ==
  /\ state \in [Clients -> {"idle", "waiting", "holding", "crashed"}]
  /\ queue \in Lists
  /\ arrivals \in Lists
  /\ holders \in SUBSET Clients

\* covers R1
WriterExclusive ==
  \A w \in Writers : w \in holders => holders = {w}

\* covers R2
HolderIsRecorded ==
  \A c \in Clients : state[c] = "holding" => c \in holders

\* covers R3
HonestRecords ==
  /\ Sequenced(queue)
  /\ Range(queue) \intersect holders = {}
  /\ \A c \in Clients :
       /\ state[c] = "waiting" => c \in Range(queue)
       /\ state[c] = "idle" => c \notin Range(queue) \union holders
       /\ state[c] = "crashed" => c \in Range(queue) \union holders

\* covers R4
GrantsInOrder ==
  [][\A c \in Clients :
       c \notin holders /\ c \in holders'
         => arrivals # <<>> /\ c = Head(arrivals)]_<<holders, arrivals>>

\* covers R5
QueueIsArrivals == queue = arrivals

\* covers R6
EveryWriterServed ==
  \A w \in Writers : state[w] = "waiting" ~> state[w] # "waiting"

\* covers R7
EveryReaderServed ==
  \A r \in Readers : state[r] = "waiting" ~> state[r] # "waiting"

\* covers R8
CrashedIsCleared ==
  \A c \in Clients : state[c] = "crashed" ~> state[c] = "idle"

\* covers R8
EveryHoldEnds ==
  \A c \in Clients : c \in holders ~> c \notin holders

\* Two readers use the lock together.
WitnessShared ==
  Cardinality({r \in Readers : state[r] = "holding"}) > 1

\* A writer uses the lock while a reader and a writer wait.
WitnessWriterHolds ==
  /\ \E w \in Writers : state[w] = "holding"
  /\ \E w \in Writers : state[w] = "waiting"
  /\ \E r \in Readers : state[r] = "waiting"

\* A reader waits behind a writer although a reader holds the lock.
WitnessReaderBehindWriter ==
  /\ holders \intersect Readers # {}
  /\ Len(queue) = 2
  /\ queue[1] \in Writers /\ queue[2] \in Readers

\* A crashed client has the lock, and another one stands in the queue.
WitnessCrashed ==
  /\ \E c \in holders : state[c] = "crashed"
  /\ \E c \in Range(queue) : state[c] = "crashed"

\* Everybody waits.
WitnessAllWait == \A c \in Clients : state[c] = "waiting"

====
