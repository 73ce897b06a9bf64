---- MODULE shared_stamp ----
\* BUG: there is one refill time for all buckets; the request of one client moves it, and
\* the others never get the tokens that they had earned until then.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Clients,      \* the clients
  Capacity,     \* the most tokens that a bucket holds
  Interval,     \* the ticks in which a bucket earns one token
  MaxTime,      \* bound of the model: the highest reading of the clock
  MaxSetbacks,  \* bound of the model: how often the clock is set back
  MaxRequests   \* bound of the model: the requests of all clients together

Smaller(a, b) == IF a < b THEN a ELSE b

(* --algorithm shared_stamp
variables
  clock = 0,
  latest = 0,
  tokens = [c \in Clients |-> Capacity],
  lastRefill = [c \in Clients |-> 0],
  granted = [c \in Clients |-> [t \in 0..MaxTime |-> 0]],
  refused = [c \in Clients |-> 0],
  ideal = [c \in Clients |-> Capacity],
  requests = 0;

process client \in Clients
begin
Request:
  while requests < MaxRequests do
    requests := requests + 1;
    with due = (latest - lastRefill[self]) \div Interval,
         level = Smaller(Capacity, tokens[self] + due) do
      lastRefill := [c \in Clients |-> lastRefill[self] + due * Interval];
      if level > 0 then
        tokens[self] := level - 1;
        granted[self][latest] := granted[self][latest] + 1;
        ideal[self] := ideal[self] - 1;
      else
        tokens[self] := level;
        refused[self] := refused[self] + 1;
      end if;
    end with;
  end while;
end process;

process ticker = "ticker"
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
\* BEGIN TRANSLATION (chksum(pcal) = "f52f5392" /\ chksum(tla) = "3598d19c")
VARIABLES pc, clock, latest, tokens, lastRefill, granted, refused, ideal, 
          requests, setbacks

vars == << pc, clock, latest, tokens, lastRefill, granted, refused, ideal, 
           requests, setbacks >>

ProcSet == (Clients) \cup {"ticker"}

Init == (* Global variables *)
        /\ clock = 0
        /\ latest = 0
        /\ tokens = [c \in Clients |-> Capacity]
        /\ lastRefill = [c \in Clients |-> 0]
        /\ granted = [c \in Clients |-> [t \in 0..MaxTime |-> 0]]
        /\ refused = [c \in Clients |-> 0]
        /\ ideal = [c \in Clients |-> Capacity]
        /\ requests = 0
        (* Process ticker *)
        /\ setbacks = 0
        /\ pc = [self \in ProcSet |-> CASE self \in Clients -> "Request"
                                        [] self = "ticker" -> "Tick"]

Request(self) == /\ pc[self] = "Request"
                 /\ IF requests < MaxRequests
                       THEN /\ requests' = requests + 1
                            /\ LET due == (latest - lastRefill[self]) \div Interval IN
                                 LET level == Smaller(Capacity, tokens[self] + due) IN
                                   /\ lastRefill' = [c \in Clients |-> lastRefill[self] + due * Interval]
                                   /\ IF level > 0
                                         THEN /\ tokens' = [tokens EXCEPT ![self] = level - 1]
                                              /\ granted' = [granted EXCEPT ![self][latest] = granted[self][latest] + 1]
                                              /\ ideal' = [ideal EXCEPT ![self] = ideal[self] - 1]
                                              /\ UNCHANGED refused
                                         ELSE /\ tokens' = [tokens EXCEPT ![self] = level]
                                              /\ refused' = [refused EXCEPT ![self] = refused[self] + 1]
                                              /\ UNCHANGED << granted, ideal >>
                            /\ pc' = [pc EXCEPT ![self] = "Request"]
                       ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                            /\ UNCHANGED << tokens, lastRefill, granted, 
                                            refused, ideal, requests >>
                 /\ UNCHANGED << clock, latest, setbacks >>

client(self) == Request(self)

Tick == /\ pc["ticker"] = "Tick"
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
                   /\ pc' = [pc EXCEPT !["ticker"] = "Tick"]
              ELSE /\ pc' = [pc EXCEPT !["ticker"] = "Done"]
                   /\ UNCHANGED << clock, latest, ideal, setbacks >>
        /\ UNCHANGED << tokens, lastRefill, granted, refused, requests >>

ticker == Tick

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == ticker
           \/ (\E self \in Clients: client(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION 

====
