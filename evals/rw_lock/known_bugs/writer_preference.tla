---- MODULE writer_preference ----
\* BUG: a writer is put into the queue before all the readers that wait there.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Readers,   \* the clients that ask in order to read
  Writers    \* the clients that ask in order to write

Clients == Readers \union Writers

Without(s, c) == LET other(d) == d # c IN SelectSeq(s, other)

Range(s) == {s[i] : i \in 1..Len(s)}

ASSUME Readers \intersect Writers = {}

(* --algorithm writer_preference
variables
  state = [c \in Clients |-> "idle"],
  queue = <<>>,      \* waiting for the grant, the front first
  holders = {},      \* the clients that the manager has granted the lock
  arrivals = <<>>;   \* the outstanding requests, oldest first

define
  IsReader(c) == c \in Readers
  IsWriter(c) == c \in Writers
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
        if c \in Writers then
          queue := SelectSeq(queue, IsWriter) \o <<c>> \o SelectSeq(queue, IsReader);
        else
          queue := Append(queue, c);
        end if;
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
\* BEGIN TRANSLATION (chksum(pcal) = "ccbf6e20" /\ chksum(tla) = "cc00f059")
VARIABLES state, queue, holders, arrivals

(* define statement *)
IsReader(c) == c \in Readers
IsWriter(c) == c \in Writers
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
                       /\ IF c \in Writers
                             THEN /\ queue' = SelectSeq(queue, IsWriter) \o <<c>> \o SelectSeq(queue, IsReader)
                             ELSE /\ queue' = Append(queue, c)
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

====
