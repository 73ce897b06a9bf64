---- MODULE read_then_write ----
\* BUG: the bucket is read in one step and written back in another; two gateways that read
\* at the same time spend the same token twice.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Clients,      \* the clients
  Capacity,     \* the most tokens that a bucket holds
  Interval,     \* the ticks in which a bucket earns one token
  MaxTime,      \* bound of the model: the highest reading of the clock
  MaxSetbacks,  \* bound of the model: how often the clock is set back
  MaxRequests   \* bound of the model: the requests of all clients together

Smaller(a, b) == IF a < b THEN a ELSE b

(* --algorithm read_then_write
variables
  clock = 0,
  latest = 0,
  tokens = [c \in Clients |-> Capacity],
  lastRefill = [c \in Clients |-> 0],
  granted = [c \in Clients |-> [t \in 0..MaxTime |-> 0]],
  refused = [c \in Clients |-> 0],
  ideal = [c \in Clients |-> Capacity],
  requests = 0;

process gateway \in 1..2
variables client \in Clients, level = 0, stamp = 0;
begin
Read:
  while requests < MaxRequests do
    requests := requests + 1;
    with due = (latest - lastRefill[client]) \div Interval do
      level := Smaller(Capacity, tokens[client] + due);
      stamp := lastRefill[client] + due * Interval;
    end with;
  Write:
    lastRefill[client] := stamp;
    if level > 0 then
      tokens[client] := level - 1;
      granted[client][latest] := granted[client][latest] + 1;
      ideal[client] := ideal[client] - 1;
    else
      tokens[client] := level;
      refused[client] := refused[client] + 1;
    end if;
  end while;
end process;

process ticker = 0
variable setbacks = 0;
begin
Tick:
  while clock < MaxTime \/ setbacks < MaxSetbacks do
    either
      await clock < MaxTime;
      clock := clock + 1;
      if clock > latest then
        latest := clock;
        if latest % Interval = 0 then
          ideal := [c \in Clients |-> Smaller(Capacity, ideal[c] + 1)];
        end if;
      end if;
    or
      await setbacks < MaxSetbacks /\ clock > 0;
      with reading \in 0..(clock - 1) do
        clock := reading;
      end with;
      setbacks := setbacks + 1;
    end either;
  end while;
end process;

end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "defb578e" /\ chksum(tla) = "b210bf3f")
VARIABLES pc, clock, latest, tokens, lastRefill, granted, refused, ideal, 
          requests, client, level, stamp, setbacks

vars == << pc, clock, latest, tokens, lastRefill, granted, refused, ideal, 
           requests, client, level, stamp, setbacks >>

ProcSet == (1..2) \cup {0}

Init == (* Global variables *)
        /\ clock = 0
        /\ latest = 0
        /\ tokens = [c \in Clients |-> Capacity]
        /\ lastRefill = [c \in Clients |-> 0]
        /\ granted = [c \in Clients |-> [t \in 0..MaxTime |-> 0]]
        /\ refused = [c \in Clients |-> 0]
        /\ ideal = [c \in Clients |-> Capacity]
        /\ requests = 0
        (* Process gateway *)
        /\ client \in [1..2 -> Clients]
        /\ level = [self \in 1..2 |-> 0]
        /\ stamp = [self \in 1..2 |-> 0]
        (* Process ticker *)
        /\ setbacks = 0
        /\ pc = [self \in ProcSet |-> CASE self \in 1..2 -> "Read"
                                        [] self = 0 -> "Tick"]

Read(self) == /\ pc[self] = "Read"
              /\ IF requests < MaxRequests
                    THEN /\ requests' = requests + 1
                         /\ LET due == (latest - lastRefill[client[self]]) \div Interval IN
                              /\ level' = [level EXCEPT ![self] = Smaller(Capacity, tokens[client[self]] + due)]
                              /\ stamp' = [stamp EXCEPT ![self] = lastRefill[client[self]] + due * Interval]
                         /\ pc' = [pc EXCEPT ![self] = "Write"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                         /\ UNCHANGED << requests, level, stamp >>
              /\ UNCHANGED << clock, latest, tokens, lastRefill, granted, 
                              refused, ideal, client, setbacks >>

Write(self) == /\ pc[self] = "Write"
               /\ lastRefill' = [lastRefill EXCEPT ![client[self]] = stamp[self]]
               /\ IF level[self] > 0
                     THEN /\ tokens' = [tokens EXCEPT ![client[self]] = level[self] - 1]
                          /\ granted' = [granted EXCEPT ![client[self]][latest] = granted[client[self]][latest] + 1]
                          /\ ideal' = [ideal EXCEPT ![client[self]] = ideal[client[self]] - 1]
                          /\ UNCHANGED refused
                     ELSE /\ tokens' = [tokens EXCEPT ![client[self]] = level[self]]
                          /\ refused' = [refused EXCEPT ![client[self]] = refused[client[self]] + 1]
                          /\ UNCHANGED << granted, ideal >>
               /\ pc' = [pc EXCEPT ![self] = "Read"]
               /\ UNCHANGED << clock, latest, requests, client, level, stamp, 
                               setbacks >>

gateway(self) == Read(self) \/ Write(self)

Tick == /\ pc[0] = "Tick"
        /\ IF clock < MaxTime \/ setbacks < MaxSetbacks
              THEN /\ \/ /\ clock < MaxTime
                         /\ clock' = clock + 1
                         /\ IF clock' > latest
                               THEN /\ latest' = clock'
                                    /\ IF latest' % Interval = 0
                                          THEN /\ ideal' = [c \in Clients |-> Smaller(Capacity, ideal[c] + 1)]
                                          ELSE /\ TRUE
                                               /\ ideal' = ideal
                               ELSE /\ TRUE
                                    /\ UNCHANGED << latest, ideal >>
                         /\ UNCHANGED setbacks
                      \/ /\ setbacks < MaxSetbacks /\ clock > 0
                         /\ \E reading \in 0..(clock - 1):
                              clock' = reading
                         /\ setbacks' = setbacks + 1
                         /\ UNCHANGED <<latest, ideal>>
                   /\ pc' = [pc EXCEPT ![0] = "Tick"]
              ELSE /\ pc' = [pc EXCEPT ![0] = "Done"]
                   /\ UNCHANGED << clock, latest, ideal, setbacks >>
        /\ UNCHANGED << tokens, lastRefill, granted, refused, requests, client, 
                        level, stamp >>

ticker == Tick

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == ticker
           \/ (\E self \in 1..2: gateway(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION 

====
