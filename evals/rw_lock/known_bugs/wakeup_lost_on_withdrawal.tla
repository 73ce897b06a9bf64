---- MODULE wakeup_lost_on_withdrawal ----
\* BUG: the manager sleeps until it is woken on behalf of the client at the front; if that
\* client withdraws, the wakeup is lost, and nobody looks at the next client.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Readers,   \* the clients that ask in order to read
  Writers    \* the clients that ask in order to write

Clients == Readers \union Writers

Without(s, c) == LET other(d) == d # c IN SelectSeq(s, other)

Range(s) == {s[i] : i \in 1..Len(s)}

ASSUME Readers \intersect Writers = {}

(* --algorithm wakeup_lost_on_withdrawal
variables
  state = [c \in Clients |-> "idle"],
  queue = <<>>,      \* waiting for the grant, the front first
  holders = {},      \* the clients that the manager has granted the lock
  arrivals = <<>>,   \* the outstanding requests, oldest first
  awake = FALSE;     \* whether the manager is to look at the front

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
        if queue = <<>> then
          awake := TRUE;
        end if;
        queue := Append(queue, c);
        arrivals := Append(arrivals, c);
        state[c] := "waiting";
      or \* withdraw
        await state[c] = "waiting";
        if c = Head(queue) then
          awake := FALSE;
        end if;
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
    await awake /\ queue # <<>>;
    with c = Head(queue) do
      if CanGrant(c) then
        queue := Tail(queue);
        arrivals := Without(arrivals, c);
        holders := holders \union {c};
        if state[c] = "waiting" then
          state[c] := "holding";
        end if;
      else
        awake := FALSE;
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
      awake := TRUE;
      holders := holders \ {self};
      state[self] := "idle";
    or \* the session of a crashed client expires
      await state[self] = "crashed";
      awake := TRUE;
      queue := Without(queue, self);
      arrivals := Without(arrivals, self);
      holders := holders \ {self};
      state[self] := "idle";
    end either;
  end while;
end process;

end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "70030542" /\ chksum(tla) = "3a6fe8f1")
VARIABLES state, queue, holders, arrivals, awake

(* define statement *)
CanGrant(c) ==
  IF c \in Readers THEN holders \intersect Writers = {} ELSE holders = {}


vars == << state, queue, holders, arrivals, awake >>

ProcSet == {"environment"} \cup {"manager"} \cup (Clients)

Init == (* Global variables *)
        /\ state = [c \in Clients |-> "idle"]
        /\ queue = <<>>
        /\ holders = {}
        /\ arrivals = <<>>
        /\ awake = FALSE

environment == /\ \E c \in Clients:
                    \/ /\ state[c] = "idle"
                       /\ IF queue = <<>>
                             THEN /\ awake' = TRUE
                             ELSE /\ TRUE
                                  /\ awake' = awake
                       /\ queue' = Append(queue, c)
                       /\ arrivals' = Append(arrivals, c)
                       /\ state' = [state EXCEPT ![c] = "waiting"]
                    \/ /\ state[c] = "waiting"
                       /\ IF c = Head(queue)
                             THEN /\ awake' = FALSE
                             ELSE /\ TRUE
                                  /\ awake' = awake
                       /\ queue' = Without(queue, c)
                       /\ arrivals' = Without(arrivals, c)
                       /\ state' = [state EXCEPT ![c] = "idle"]
                    \/ /\ state[c] \in {"waiting", "holding"}
                       /\ state' = [state EXCEPT ![c] = "crashed"]
                       /\ UNCHANGED <<queue, arrivals, awake>>
               /\ UNCHANGED holders

manager == /\ awake /\ queue # <<>>
           /\ LET c == Head(queue) IN
                IF CanGrant(c)
                   THEN /\ queue' = Tail(queue)
                        /\ arrivals' = Without(arrivals, c)
                        /\ holders' = (holders \union {c})
                        /\ IF state[c] = "waiting"
                              THEN /\ state' = [state EXCEPT ![c] = "holding"]
                              ELSE /\ TRUE
                                   /\ state' = state
                        /\ awake' = awake
                   ELSE /\ awake' = FALSE
                        /\ UNCHANGED << state, queue, holders, arrivals >>

client(self) == \/ /\ state[self] = "holding"
                   /\ awake' = TRUE
                   /\ holders' = holders \ {self}
                   /\ state' = [state EXCEPT ![self] = "idle"]
                   /\ UNCHANGED <<queue, arrivals>>
                \/ /\ state[self] = "crashed"
                   /\ awake' = TRUE
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
