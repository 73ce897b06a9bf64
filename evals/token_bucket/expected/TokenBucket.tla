---- MODULE TokenBucket ----
\* The reference for the limiter.  One request is one step, one movement of the clock is one step.
\* R1 to R9 are the guarantees 1 to 9 of guarantees.md.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Clients,      \* the clients
  Capacity,     \* the most tokens that a bucket holds
  Interval,     \* the ticks in which a bucket earns one token
  MaxTime,      \* bound of the model: the highest reading of the clock
  MaxSetbacks,  \* bound of the model: how often the clock is set back
  MaxRequests   \* bound of the model: the requests of all clients together

Smaller(a, b) == IF a < b THEN a ELSE b

ASSUME /\ Capacity > 0 /\ Interval > 0 /\ MaxTime > 0
       /\ MaxSetbacks >= 0 /\ MaxRequests > 0

\* The sum of f over the ticks s to e.
RECURSIVE SumTicks(_, _, _)
SumTicks(f, s, e) == IF s > e THEN 0 ELSE f[e] + SumTicks(f, s, e - 1)

(* --algorithm TokenBucket
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
      lastRefill[self] := lastRefill[self] + due * Interval;
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
\* BEGIN TRANSLATION (chksum(pcal) = "9060e2a5" /\ chksum(tla) = "2e07db1")
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
                                   /\ lastRefill' = [lastRefill EXCEPT ![self] = lastRefill[self] + due * Interval]
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

\* covers R1, R2, R9
TypeOK ==
  /\ clock \in 0..MaxTime
  /\ latest \in 0..MaxTime
  /\ tokens \in [Clients -> 0..Capacity]
  /\ lastRefill \in [Clients -> {t \in 0..MaxTime : t % Interval = 0}]
  /\ granted \in [Clients -> [0..MaxTime -> 0..Smaller(Capacity, MaxRequests)]]
  /\ refused \in [Clients -> 0..MaxRequests]
  /\ ideal \in [Clients -> 0..Capacity]
  /\ requests \in 0..MaxRequests
  /\ setbacks \in 0..MaxSetbacks
  /\ pc \in [ProcSet -> {"Request", "Tick", "Done"}]
  /\ \A c \in Clients : pc[c] # "Tick"
  /\ pc["ticker"] # "Request"

\* covers R1
CapacityLimit == \A c \in Clients : tokens[c] <= Capacity

\* covers R2
NonNegative == \A c \in Clients : tokens[c] >= 0

\* covers R3
WindowLimit ==
  \A c \in Clients : \A s, e \in 0..MaxTime :
    s <= e => SumTicks(granted[c], s, e) <= Capacity + (e \div Interval) - (s \div Interval)

\* covers R4
RefillExact ==
  \A c \in Clients :
    ideal[c] = Smaller(Capacity, tokens[c] + ((latest - lastRefill[c]) \div Interval))

\* covers R5
RefusedOnlyWithoutToken ==
  [][\A c \in Clients : refused'[c] # refused[c] => ideal[c] = 0]_<<refused, ideal>>

\* covers R6
GrantedOnlyWithToken ==
  [][\A c \in Clients : granted'[c] # granted[c] => ideal[c] >= 1]_<<granted, ideal>>

\* covers R7
RefusalChangesNothing ==
  [][refused' # refused => UNCHANGED <<tokens, lastRefill, granted, ideal>>
    ]_<<tokens, lastRefill, granted, refused, ideal>>

\* covers R8
ClientsIndependent ==
  [][\A c, d \in Clients :
       c # d /\ (granted'[c] # granted[c] \/ refused'[c] # refused[c])
         => /\ tokens'[d] = tokens[d]
            /\ lastRefill'[d] = lastRefill[d]
            /\ granted'[d] = granted[d]
            /\ refused'[d] = refused[d]
            /\ ideal'[d] = ideal[d]]_<<tokens, lastRefill, granted, refused, ideal>>

\* covers R9
RefillTimeSound ==
  \A c \in Clients : lastRefill[c] <= latest /\ lastRefill[c] % Interval = 0

\* covers R9
LatestIsHighest == clock <= latest

\* covers R9
TimeNeverFalls ==
  [][latest' >= latest /\ \A c \in Clients : lastRefill'[c] >= lastRefill[c]]_<<latest, lastRefill>>

\* A client has used the whole burst and all that was earned since.
WitnessWindowUsedUp ==
  \E c \in Clients : latest >= Interval
    /\ SumTicks(granted[c], 0, latest) = Capacity + (latest \div Interval)

\* A client was granted a request in a later tick than the burst, and was refused one before or after it.
WitnessGrantAndRefusal ==
  \E c \in Clients : granted[c][0] = Capacity /\ refused[c] > 0 /\ SumTicks(granted[c], 1, MaxTime) > 0

\* Limiter time lies between two multiples of Interval, and a token is due that no request has picked up.
WitnessDueNotPickedUp ==
  \E c \in Clients : latest % Interval # 0 /\ tokens[c] = 0 /\ latest - lastRefill[c] > Interval

\* The clock was set back to before the lastRefill of a client that has used a token at latest.
WitnessSetBack ==
  \E c \in Clients : clock < lastRefill[c] /\ granted[c][latest] > 0

\* Refill is due that does not fit into the bucket.
WitnessOverflow == \E c \in Clients : tokens[c] + (latest - lastRefill[c]) \div Interval > Capacity

====
