---- MODULE cache_before_commit ----
\* BUG: the writer puts the new value into the cache before the database has
\* accepted it (and takes it back if the database rejects it).
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

(* --algorithm cache_before_commit {
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
  Announce:
      cache := db + 1;
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
      } or { \* the database rejects the value: the entry is taken back
  TakeBack:
        cache := NoEntry;
        leases := {};
  Reject:
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

\* BEGIN TRANSLATION PCal-791d7957670c9e3ea3818edb1b8babd7
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
                          /\ pc' = [pc EXCEPT ![self] = "Announce"]
                     ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                          /\ UNCHANGED << underway, updates >>
               /\ UNCHANGED << db, cache, leases, acked, returned, reads, 
                               value, mine, losses >>

Announce(self) == /\ pc[self] = "Announce"
                  /\ cache' = db + 1
                  /\ pc' = [pc EXCEPT ![self] = "Commit"]
                  /\ UNCHANGED << db, leases, underway, acked, returned, reads, 
                                  value, updates, mine, losses >>

Commit(self) == /\ pc[self] = "Commit"
                /\ \/ /\ db' = db + 1
                      /\ mine' = [mine EXCEPT ![self] = db']
                      /\ pc' = [pc EXCEPT ![self] = "Delete"]
                   \/ /\ pc' = [pc EXCEPT ![self] = "TakeBack"]
                      /\ UNCHANGED <<db, mine>>
                /\ UNCHANGED << cache, leases, underway, acked, returned, 
                                reads, value, updates, losses >>

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

TakeBack(self) == /\ pc[self] = "TakeBack"
                  /\ cache' = NoEntry
                  /\ leases' = {}
                  /\ pc' = [pc EXCEPT ![self] = "Reject"]
                  /\ UNCHANGED << db, underway, acked, returned, reads, value, 
                                  updates, mine, losses >>

Reject(self) == /\ pc[self] = "Reject"
                /\ underway' = underway \ {self}
                /\ pc' = [pc EXCEPT ![self] = "Begin"]
                /\ UNCHANGED << db, cache, leases, acked, returned, reads, 
                                value, updates, mine, losses >>

writer(self) == Begin(self) \/ Announce(self) \/ Commit(self)
                   \/ Delete(self) \/ Acknowledge(self) \/ TakeBack(self)
                   \/ Reject(self)

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

\* END TRANSLATION TLA-63ebc2fcc7e1cbffebbedd7f6c3aee58

====
