---- MODULE CacheLeases ----
(***************************************************************************)
(* The reference for the catalogue cache with leases.  Every command to    *)
(* the cache and every statement to the database is one step.              *)
(*                                                                         *)
(* The requirements, and where the documents state them:                   *)
(*   R1  overview.md 4.1  freshness                                        *)
(*   R2  overview.md 4.2  provenance                                       *)
(*   R3  overview.md 4.3  honest reads                                     *)
(*   R4  overview.md 4.4  kept promises                                    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Readers,       \* the reads: each is one process
  Writers,       \* the updates: each is one process
  NoEntry        \* stands for "the cache holds no entry"

\* One item; the cache loses it at most once besides the deletes.  A row is
\* represented by its version.  Returning a value to the caller touches nothing that
\* is shared, so it is part of the step before it.
\* A read is given at most one token, so a token is named after its reader.

Max(a, b) == IF a >= b THEN a ELSE b

(* --algorithm CacheLeases {
  variables
    db = 0,                                \* the version in the database
    cache = NoEntry,                       \* the version in the cache, or NoEntry
    leases = {},                           \* the readers whose token is outstanding
    underway = {},                         \* the writers whose update is under way
    acked = 0,                             \* the newest acknowledged version
    returned = [r \in Readers |-> NoEntry]; \* what each read returned, once it has

  process (reader \in Readers)
    variable value = NoEntry;
  {
  Get:
    if (cache # NoEntry) {
      returned[self] := cache;
    } else {
      leases := leases \union {self};
  Read:
      value := db;
  Fill:
      if (self \in leases) {
        cache := value;
        leases := leases \ {self};
      };
      returned[self] := value;
    }
  }

  process (writer \in Writers)
    variable mine = 0;
  {
  Begin:
    underway := underway \union {self};
  Commit:
    either { \* the database accepts the value
      db := db + 1;
      mine := db;
  Delete:
      cache := NoEntry;
      leases := {};
  Acknowledge:
      underway := underway \ {self};
      acked := Max(acked, mine);
    } or { \* the database rejects the value
      underway := underway \ {self};
    }
  }

  process (store = "cache")
  {
  Lose:
    either { \* eviction
      cache := NoEntry;
    } or { \* restart
      cache := NoEntry;
      leases := {};
    }
  }
} *)

\* BEGIN TRANSLATION PCal-aac2dc3f7efaf9592d7372a5a8e9c7e0
VARIABLES db, cache, leases, underway, acked, returned, pc, value, mine

vars == << db, cache, leases, underway, acked, returned, pc, value, mine >>

ProcSet == (Readers) \cup (Writers) \cup {"cache"}

Init == (* Global variables *)
        /\ db = 0
        /\ cache = NoEntry
        /\ leases = {}
        /\ underway = {}
        /\ acked = 0
        /\ returned = [r \in Readers |-> NoEntry]
        (* Process reader *)
        /\ value = [self \in Readers |-> NoEntry]
        (* Process writer *)
        /\ mine = [self \in Writers |-> 0]
        /\ pc = [self \in ProcSet |-> CASE self \in Readers -> "Get"
                                        [] self \in Writers -> "Begin"
                                        [] self = "cache" -> "Lose"]

Get(self) == /\ pc[self] = "Get"
             /\ IF cache # NoEntry
                   THEN /\ returned' = [returned EXCEPT ![self] = cache]
                        /\ pc' = [pc EXCEPT ![self] = "Done"]
                        /\ UNCHANGED leases
                   ELSE /\ leases' = (leases \union {self})
                        /\ pc' = [pc EXCEPT ![self] = "Read"]
                        /\ UNCHANGED returned
             /\ UNCHANGED << db, cache, underway, acked, value, mine >>

Read(self) == /\ pc[self] = "Read"
              /\ value' = [value EXCEPT ![self] = db]
              /\ pc' = [pc EXCEPT ![self] = "Fill"]
              /\ UNCHANGED << db, cache, leases, underway, acked, returned, 
                              mine >>

Fill(self) == /\ pc[self] = "Fill"
              /\ IF self \in leases
                    THEN /\ cache' = value[self]
                         /\ leases' = leases \ {self}
                    ELSE /\ TRUE
                         /\ UNCHANGED << cache, leases >>
              /\ returned' = [returned EXCEPT ![self] = value[self]]
              /\ pc' = [pc EXCEPT ![self] = "Done"]
              /\ UNCHANGED << db, underway, acked, value, mine >>

reader(self) == Get(self) \/ Read(self) \/ Fill(self)

Begin(self) == /\ pc[self] = "Begin"
               /\ underway' = (underway \union {self})
               /\ pc' = [pc EXCEPT ![self] = "Commit"]
               /\ UNCHANGED << db, cache, leases, acked, returned, value, mine >>

Commit(self) == /\ pc[self] = "Commit"
                /\ \/ /\ db' = db + 1
                      /\ mine' = [mine EXCEPT ![self] = db']
                      /\ pc' = [pc EXCEPT ![self] = "Delete"]
                      /\ UNCHANGED underway
                   \/ /\ underway' = underway \ {self}
                      /\ pc' = [pc EXCEPT ![self] = "Done"]
                      /\ UNCHANGED <<db, mine>>
                /\ UNCHANGED << cache, leases, acked, returned, value >>

Delete(self) == /\ pc[self] = "Delete"
                /\ cache' = NoEntry
                /\ leases' = {}
                /\ pc' = [pc EXCEPT ![self] = "Acknowledge"]
                /\ UNCHANGED << db, underway, acked, returned, value, mine >>

Acknowledge(self) == /\ pc[self] = "Acknowledge"
                     /\ underway' = underway \ {self}
                     /\ acked' = Max(acked, mine[self])
                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                     /\ UNCHANGED << db, cache, leases, returned, value, mine >>

writer(self) == Begin(self) \/ Commit(self) \/ Delete(self)
                   \/ Acknowledge(self)

Lose == /\ pc["cache"] = "Lose"
        /\ \/ /\ cache' = NoEntry
              /\ UNCHANGED leases
           \/ /\ cache' = NoEntry
              /\ leases' = {}
        /\ pc' = [pc EXCEPT !["cache"] = "Done"]
        /\ UNCHANGED << db, underway, acked, returned, value, mine >>

store == Lose

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == store
           \/ (\E self \in Readers: reader(self))
           \/ (\E self \in Writers: writer(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION TLA-4556bffebf8e5a0bfc45ef69e3790e2d

\* An update adds one version or none.
Versions == 0..Cardinality(Writers)

\* covers R2
TypeOK ==
  /\ db \in Versions
  /\ cache \in Versions \union {NoEntry}
  /\ leases \subseteq Readers
  /\ underway \subseteq Writers
  /\ acked \in Versions
  /\ returned \in [Readers -> Versions \union {NoEntry}]
  /\ value \in [Readers -> Versions \union {NoEntry}]
  /\ mine \in [Writers -> Versions]

\* covers R1
CacheFresh == underway = {} /\ cache # NoEntry => cache >= db

\* covers R2
OnlyCommitted == cache # NoEntry => cache <= db

\* covers R3
ReadsCommitted == \A r \in Readers : returned[r] # NoEntry => returned[r] <= db

\* covers R4
AckedIsInDatabase == acked <= db

\* covers R1
\* Stronger: also while another update is under way, nothing older than the
\* newest acknowledged version is in the cache.
NothingOlderThanAcked == cache # NoEntry => cache >= acked

\* covers R1
\* Why it holds: a token that outlives every update goes with the newest row.
TokenMeansFresh ==
  underway = {} =>
    \A r \in leases : pc[r] = "Fill" => value[r] = db

\* covers R4
VersionNeverFalls == [][db' >= db]_db

\* A reader finds an entry that a reader put there after an update.
WitnessHitAfterUpdate ==
  \E r \in Readers : pc[r] = "Get" /\ cache # NoEntry /\ cache > 0

\* A fill is refused because an update made its token void.
WitnessFillRefused ==
  \E r \in Readers : pc[r] = "Fill" /\ r \notin leases /\ value[r] < db

\* Two readers hold tokens at once.
WitnessTwoTokens == Cardinality(leases) > 1

\* Two updates are under way at once.
WitnessTwoWriters == Cardinality(underway) > 1

\* All updates were accepted and acknowledged, and the newest row is in the cache.
WitnessSettled ==
  /\ acked = Cardinality(Writers)
  /\ underway = {}
  /\ cache = acked

\* An update was rejected: all are over, and the version counts one less.
WitnessRejected ==
  /\ \A w \in Writers : pc[w] = "Done"
  /\ db = Cardinality(Writers) - 1

====
