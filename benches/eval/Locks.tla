------------------------------- MODULE Locks -------------------------------
\* A lock server with fencing tokens: grants have an epoch, a store accepts no write of an older epoch.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Clients, MaxEpoch, MaxCrashes, None

VARIABLES phase, queue, holder, epoch, token, net, store, up, crashes

vars == <<phase, queue, holder, epoch, token, net, store, up, crashes>>

Requests == [kind: {"request"}, from: Clients]
Grants == [kind: {"grant"}, to: Clients, epoch: 1..MaxEpoch]
Releases == [kind: {"release"}, from: Clients, epoch: 1..MaxEpoch]
Writes == [kind: {"write"}, from: Clients, epoch: 1..MaxEpoch]

Sent(kind) == {m \in net : m.kind = kind}
InQueue(c) == \E i \in 1..Len(queue) : queue[i] = c
Holds(c) == phase[c] \in {"holding", "writing"}

Init ==
    /\ phase = [c \in Clients |-> "idle"]
    /\ queue = <<>>
    /\ holder = None
    /\ epoch = 0
    /\ token = [c \in Clients |-> 0]
    /\ net = {}
    /\ store = [epoch |-> 0, by |-> None]
    /\ up = TRUE
    /\ crashes = 0

Request(c) ==
    /\ phase[c] = "idle"
    /\ phase' = [phase EXCEPT ![c] = "waiting"]
    /\ net' = net \cup {[kind |-> "request", from |-> c]}
    /\ UNCHANGED <<queue, holder, epoch, token, store, up, crashes>>

Retry(c) ==
    /\ phase[c] = "waiting"
    /\ ~InQueue(c)
    /\ holder # c
    /\ \A m \in net : ~(m.kind = "request" /\ m.from = c) /\ ~(m.kind = "grant" /\ m.to = c)
    /\ net' = net \cup {[kind |-> "request", from |-> c]}
    /\ UNCHANGED <<phase, queue, holder, epoch, token, store, up, crashes>>

ReceiveRequest(m) ==
    /\ up
    /\ m.kind = "request"
    /\ Len(queue) <= Cardinality(Clients)
    /\ net' = net \ {m}
    /\ queue' = Append(queue, m.from)
    /\ UNCHANGED <<phase, holder, epoch, token, store, up, crashes>>

Grant ==
    /\ up
    /\ holder = None
    /\ queue # <<>>
    /\ epoch < MaxEpoch
    /\ holder' = Head(queue)
    /\ queue' = Tail(queue)
    /\ epoch' = epoch + 1
    /\ net' = net \cup {[kind |-> "grant", to |-> Head(queue), epoch |-> epoch + 1]}
    /\ UNCHANGED <<phase, token, store, up, crashes>>

ReceiveGrant(m) ==
    /\ m.kind = "grant"
    /\ net' = net \ {m}
    /\ phase' = [phase EXCEPT ![m.to] = "holding"]
    /\ token' = [token EXCEPT ![m.to] = m.epoch]
    /\ UNCHANGED <<queue, holder, epoch, store, up, crashes>>

Write(c) ==
    /\ phase[c] = "holding"
    /\ phase' = [phase EXCEPT ![c] = "writing"]
    /\ net' = net \cup {[kind |-> "write", from |-> c, epoch |-> token[c]]}
    /\ UNCHANGED <<queue, holder, epoch, token, store, up, crashes>>

ReceiveWrite(m) ==
    /\ m.kind = "write"
    /\ net' = net \ {m}
    /\ store' = IF m.epoch >= store.epoch THEN [epoch |-> m.epoch, by |-> m.from] ELSE store
    /\ UNCHANGED <<phase, queue, holder, epoch, token, up, crashes>>

Release(c) ==
    /\ Holds(c)
    /\ phase' = [phase EXCEPT ![c] = "idle"]
    /\ token' = [token EXCEPT ![c] = 0]
    /\ net' = net \cup {[kind |-> "release", from |-> c, epoch |-> token[c]]}
    /\ UNCHANGED <<queue, holder, epoch, store, up, crashes>>

ReceiveRelease(m) ==
    /\ up
    /\ m.kind = "release"
    /\ net' = net \ {m}
    /\ holder' = IF holder = m.from /\ epoch = m.epoch THEN None ELSE holder
    /\ UNCHANGED <<phase, queue, epoch, token, store, up, crashes>>

Expire ==
    /\ up
    /\ holder # None
    /\ Holds(holder)
    /\ holder' = None
    /\ UNCHANGED <<phase, queue, epoch, token, net, store, up, crashes>>

Crash ==
    /\ up
    /\ crashes < MaxCrashes
    /\ up' = FALSE
    /\ crashes' = crashes + 1
    /\ queue' = <<>>
    /\ UNCHANGED <<phase, holder, epoch, token, net, store>>

Recover ==
    /\ ~up
    /\ up' = TRUE
    /\ UNCHANGED <<phase, queue, holder, epoch, token, net, store, crashes>>

Receive == \E m \in net : ReceiveRequest(m) \/ ReceiveGrant(m) \/ ReceiveWrite(m) \/ ReceiveRelease(m)

Next ==
    \/ \E c \in Clients : Request(c) \/ Retry(c) \/ Write(c) \/ Release(c)
    \/ Receive \/ Grant \/ Expire \/ Crash \/ Recover

Spec == Init /\ [][Next]_vars /\ WF_vars(Receive) /\ WF_vars(Recover)

-----------------------------------------------------------------------------
TypeOK ==
    /\ phase \in [Clients -> {"idle", "waiting", "holding", "writing"}]
    /\ queue \in Seq(Clients)
    /\ holder \in Clients \cup {None}
    /\ epoch \in 0..MaxEpoch
    /\ token \in [Clients -> 0..MaxEpoch]
    /\ net \subseteq Requests \cup Grants \cup Releases \cup Writes
    /\ store \in [epoch: 0..MaxEpoch, by: Clients \cup {None}]
    /\ up \in BOOLEAN
    /\ crashes \in 0..MaxCrashes

QueueIsShort == Len(queue) <= Cardinality(Clients)
NoDuplicates == \A i, j \in 1..Len(queue) : i # j => queue[i] # queue[j]
QueuedWait == \A i \in 1..Len(queue) : phase[queue[i]] = "waiting"
HolderIsNotQueued == \A i \in 1..Len(queue) : queue[i] # holder \/ up
DownHasNoQueue == ~up => queue = <<>>
TokensAreGranted == \A c \in Clients : token[c] <= epoch
HoldersHaveTokens == \A c \in Clients : Holds(c) => token[c] > 0
OthersHaveNone == \A c \in Clients : ~Holds(c) => token[c] = 0
TokensDiffer == \A c, d \in Clients : c # d /\ Holds(c) /\ Holds(d) => token[c] # token[d]
NewestHolds == \A c \in Clients : Holds(c) /\ token[c] = epoch => holder \in {c, None}
HolderIsKnown == epoch = 0 => holder = None
GrantsAreRecent == \A m \in Sent("grant") : m.epoch <= epoch
GrantsAreUnique == \A m, n \in Sent("grant") : m.epoch = n.epoch => m = n
GrantsAreAwaited == \A m \in Sent("grant") : phase[m.to] = "waiting"
GrantedHolds == \A m \in Sent("grant") : m.epoch = epoch => holder = m.to
OneGrant == Cardinality(Sent("grant")) <= 1
RequestsAreAwaited == \A m \in Sent("request") : phase[m.from] = "waiting"
RequestedOnce == \A m \in Sent("request") : ~InQueue(m.from)
WritesAreGranted == \A m \in Sent("write") : m.epoch \in 1..epoch
WritesDiffer == \A m, n \in Sent("write") : m.epoch = n.epoch => m.from = n.from
ReleasesAreGranted == \A m \in Sent("release") : m.epoch \in 1..epoch
ReleasedIsGone == \A m \in Sent("release") : token[m.from] # m.epoch
StoreIsGranted == store.epoch <= epoch
StoreHasWriter == (store.epoch = 0) <=> (store.by = None)

EpochGrows == [][epoch' >= epoch]_vars
StoreGrows == [][store'.epoch >= store.epoch]_vars
GrantsNeedEpochs == [][holder' # holder /\ holder' # None => epoch' = epoch + 1]_vars
TokensStay == [][\A c \in Clients : token'[c] # token[c] => token[c] = 0 \/ token'[c] = 0]_vars
CrashesOnce == [][crashes' # crashes => up /\ ~up']_vars
Quiet == <>[](net = {})
=============================================================================
