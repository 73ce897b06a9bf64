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
  Readers,       \* the processes that read the item
  Writers,       \* the processes that update the item
  NoEntry,       \* stands for "the cache holds no entry"
  MaxReads,      \* bound of the model: reads each reader makes
  MaxUpdates,    \* bound of the model: updates each writer starts
  MaxLosses      \* bound of the model: evictions and restarts of the cache

\* One item; a row is represented by its version.  Returning a value to the caller
\* touches nothing that is shared, so it is part of the step before it.
\* A reader has at most one token at a time, so a token is named after its reader.

Max(a, b) == IF a >= b THEN a ELSE b

(* --algorithm CacheLeases {
  variables
    db = 0,                                \* the version in the database
    cache = NoEntry,                       \* the version in the cache, or NoEntry
    leases = {},                           \* the readers whose token is outstanding
    underway = {},                         \* the writers whose update is under way
    acked = 0,                             \* the newest acknowledged version
    returned = [r \in Readers |-> NoEntry]; \* what each reader returned last

  process (reader \in Readers)
    variables reads = 0, value = NoEntry;
  {
  Get:
    while (reads < MaxReads) {
      reads := reads + 1;
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
        value := NoEntry;
      }
    }
  }

  process (writer \in Writers)
    variables updates = 0, mine = 0;
  {
  Begin:
    while (updates < MaxUpdates) {
      updates := updates + 1;
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
        mine := 0;
      } or { \* the database rejects the value
        underway := underway \ {self};
      }
    }
  }

  process (store = "cache")
    variable losses = 0;
  {
  Lose:
    while (losses < MaxLosses) {
      losses := losses + 1;
      either { \* eviction
        cache := NoEntry;
      } or { \* restart
        cache := NoEntry;
        leases := {};
      }
    }
  }
} *)

\* BEGIN TRANSLATION PCal-c478d2c43ebc7aeddcd9bee0fafd22d7
VARIABLES db, cache, leases, underway, acked, returned, pc, reads, value, 
          updates, mine, losses

vars == << db, cache, leases, underway, acked, returned, pc, reads, value, 
           updates, mine, losses >>

ProcSet == (Readers) \cup (Writers) \cup {"cache"}

Init == (* Global variables *)
        /\ db = 0
        /\ cache = NoEntry
        /\ leases = {}
        /\ underway = {}
        /\ acked = 0
        /\ returned = [r \in Readers |-> NoEntry]
        (* Process reader *)
        /\ reads = [self \in Readers |-> 0]
        /\ value = [self \in Readers |-> NoEntry]
        (* Process writer *)
        /\ updates = [self \in Writers |-> 0]
        /\ mine = [self \in Writers |-> 0]
        (* Process store *)
        /\ losses = 0
        /\ pc = [self \in ProcSet |-> CASE self \in Readers -> "Get"
                                        [] self \in Writers -> "Begin"
                                        [] self = "cache" -> "Lose"]

Get(self) == /\ pc[self] = "Get"
             /\ IF reads[self] < MaxReads
                   THEN /\ reads' = [reads EXCEPT ![self] = reads[self] + 1]
                        /\ IF cache # NoEntry
                              THEN /\ returned' = [returned EXCEPT ![self] = cache]
                                   /\ pc' = [pc EXCEPT ![self] = "Get"]
                                   /\ UNCHANGED leases
                              ELSE /\ leases' = (leases \union {self})
                                   /\ pc' = [pc EXCEPT ![self] = "Read"]
                                   /\ UNCHANGED returned
                   ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                        /\ UNCHANGED << leases, returned, reads >>
             /\ UNCHANGED << db, cache, underway, acked, value, updates, mine, 
                             losses >>

Read(self) == /\ pc[self] = "Read"
              /\ value' = [value EXCEPT ![self] = db]
              /\ pc' = [pc EXCEPT ![self] = "Fill"]
              /\ UNCHANGED << db, cache, leases, underway, acked, returned, 
                              reads, updates, mine, losses >>

Fill(self) == /\ pc[self] = "Fill"
              /\ IF self \in leases
                    THEN /\ cache' = value[self]
                         /\ leases' = leases \ {self}
                    ELSE /\ TRUE
                         /\ UNCHANGED << cache, leases >>
              /\ returned' = [returned EXCEPT ![self] = value[self]]
              /\ value' = [value EXCEPT ![self] = NoEntry]
              /\ pc' = [pc EXCEPT ![self] = "Get"]
              /\ UNCHANGED << db, underway, acked, reads, updates, mine, 
                              losses >>

reader(self) == Get(self) \/ Read(self) \/ Fill(self)

Begin(self) == /\ pc[self] = "Begin"
               /\ IF updates[self] < MaxUpdates
                     THEN /\ updates' = [updates EXCEPT ![self] = updates[self] + 1]
                          /\ underway' = (underway \union {self})
                          /\ pc' = [pc EXCEPT ![self] = "Commit"]
                     ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                          /\ UNCHANGED << underway, updates >>
               /\ UNCHANGED << db, cache, leases, acked, returned, reads, 
                               value, mine, losses >>

Commit(self) == /\ pc[self] = "Commit"
                /\ \/ /\ db' = db + 1
                      /\ mine' = [mine EXCEPT ![self] = db']
                      /\ pc' = [pc EXCEPT ![self] = "Delete"]
                      /\ UNCHANGED underway
                   \/ /\ underway' = underway \ {self}
                      /\ pc' = [pc EXCEPT ![self] = "Begin"]
                      /\ UNCHANGED <<db, mine>>
                /\ UNCHANGED << cache, leases, acked, returned, reads, value, 
                                updates, losses >>

Delete(self) == /\ pc[self] = "Delete"
                /\ cache' = NoEntry
                /\ leases' = {}
                /\ pc' = [pc EXCEPT ![self] = "Acknowledge"]
                /\ UNCHANGED << db, underway, acked, returned, reads, value, 
                                updates, mine, losses >>

Acknowledge(self) == /\ pc[self] = "Acknowledge"
                     /\ underway' = underway \ {self}
                     /\ acked' = Max(acked, mine[self])
                     /\ mine' = [mine EXCEPT ![self] = 0]
                     /\ pc' = [pc EXCEPT ![self] = "Begin"]
                     /\ UNCHANGED << db, cache, leases, returned, reads, value, 
                                     updates, losses >>

writer(self) == Begin(self) \/ Commit(self) \/ Delete(self)
                   \/ Acknowledge(self)

Lose == /\ pc["cache"] = "Lose"
        /\ IF losses < MaxLosses
              THEN /\ losses' = losses + 1
                   /\ \/ /\ cache' = NoEntry
                         /\ UNCHANGED leases
                      \/ /\ cache' = NoEntry
                         /\ leases' = {}
                   /\ pc' = [pc EXCEPT !["cache"] = "Lose"]
              ELSE /\ pc' = [pc EXCEPT !["cache"] = "Done"]
                   /\ UNCHANGED << cache, leases, losses >>
        /\ UNCHANGED << db, underway, acked, returned, reads, value, updates, 
                        mine >>

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

\* END TRANSLATION TLA-acb3f5f4d59b802ade2b8f8149283268

\* No update adds more than one version.
Versions == 0..(Cardinality(Writers) * MaxUpdates)

\* covers R2
TypeOK ==
  /\ db \in Versions
  /\ cache \in Versions \union {NoEntry}
  /\ leases \subseteq Readers
  /\ underway \subseteq Writers
  /\ acked \in Versions
  /\ returned \in [Readers -> Versions \union {NoEntry}]
  /\ reads \in [Readers -> 0..MaxReads]
  /\ value \in [Readers -> Versions \union {NoEntry}]
  /\ updates \in [Writers -> 0..MaxUpdates]
  /\ mine \in [Writers -> Versions]
  /\ losses \in 0..MaxLosses

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
  \E r \in Readers : pc[r] = "Get" /\ reads[r] < MaxReads /\ cache # NoEntry /\ cache > 0

\* A fill is refused because an update made its token void.
WitnessFillRefused ==
  \E r \in Readers : pc[r] = "Fill" /\ r \notin leases /\ value[r] < db

\* Two readers hold tokens at once.
WitnessTwoTokens == Cardinality(leases) > 1

\* Two updates are under way at once.
WitnessTwoWriters == Cardinality(underway) > 1

\* All updates were accepted and acknowledged, and the newest row is in the cache.
WitnessSettled ==
  /\ acked = Cardinality(Writers) * MaxUpdates
  /\ underway = {}
  /\ cache = acked

\* An update was rejected: all are over, and the version counts one less.
WitnessRejected ==
  /\ \A w \in Writers : pc[w] = "Done"
  /\ db = Cardinality(Writers) * MaxUpdates - 1

====
