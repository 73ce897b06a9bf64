---- MODULE cache_before_commit ----
\* BUG: the writer puts the new value into the cache before the database has
\* accepted it (and takes it back if the database rejects it).
\* Unlike in the documents, reading the database and filling the cache are one
\* step here, so that nothing but this bug can break the requirement.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Readers,       \* the reads: each is one process
  Writers,       \* the updates: each is one process
  NoEntry        \* stands for "the cache holds no entry"

\* One item; the cache loses it at most once besides the deletes.  A row is
\* represented by its version.  Returning a value to the caller touches nothing that
\* is shared, so it is part of the step before it.

Max(a, b) == IF a >= b THEN a ELSE b

(* --algorithm cache_before_commit {
  variables
    db = 0,                                \* the version in the database
    cache = NoEntry,                       \* the version in the cache, or NoEntry
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
  ReadAndFill:
      value := db;
      cache := value;
      returned[self] := value;
    }
  }

  process (writer \in Writers)
    variable mine = 0;
  {
  Begin:
    underway := underway \union {self};
  Announce:
    cache := db + 1;
  Commit:
    either { \* the database accepts the value
      db := db + 1;
      mine := db;
  Delete:
      cache := NoEntry;
  Acknowledge:
      underway := underway \ {self};
      acked := Max(acked, mine);
    } or { \* the database rejects the value: the entry is taken back
  TakeBack:
      cache := NoEntry;
  Reject:
      underway := underway \ {self};
    }
  }

  process (store = "cache")
  {
  Lose:
    cache := NoEntry;
  }
} *)

\* BEGIN TRANSLATION PCal-767f6221f37859b1c976679a765fea9b
VARIABLES db, cache, underway, acked, returned, pc, value, mine

vars == << db, cache, underway, acked, returned, pc, value, mine >>

ProcSet == (Readers) \cup (Writers) \cup {"cache"}

Init == (* Global variables *)
        /\ db = 0
        /\ cache = NoEntry
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
                   ELSE /\ pc' = [pc EXCEPT ![self] = "ReadAndFill"]
                        /\ UNCHANGED returned
             /\ UNCHANGED << db, cache, underway, acked, value, mine >>

ReadAndFill(self) == /\ pc[self] = "ReadAndFill"
                     /\ value' = [value EXCEPT ![self] = db]
                     /\ cache' = value'[self]
                     /\ returned' = [returned EXCEPT ![self] = value'[self]]
                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                     /\ UNCHANGED << db, underway, acked, mine >>

reader(self) == Get(self) \/ ReadAndFill(self)

Begin(self) == /\ pc[self] = "Begin"
               /\ underway' = (underway \union {self})
               /\ pc' = [pc EXCEPT ![self] = "Announce"]
               /\ UNCHANGED << db, cache, acked, returned, value, mine >>

Announce(self) == /\ pc[self] = "Announce"
                  /\ cache' = db + 1
                  /\ pc' = [pc EXCEPT ![self] = "Commit"]
                  /\ UNCHANGED << db, underway, acked, returned, value, mine >>

Commit(self) == /\ pc[self] = "Commit"
                /\ \/ /\ db' = db + 1
                      /\ mine' = [mine EXCEPT ![self] = db']
                      /\ pc' = [pc EXCEPT ![self] = "Delete"]
                   \/ /\ pc' = [pc EXCEPT ![self] = "TakeBack"]
                      /\ UNCHANGED <<db, mine>>
                /\ UNCHANGED << cache, underway, acked, returned, value >>

Delete(self) == /\ pc[self] = "Delete"
                /\ cache' = NoEntry
                /\ pc' = [pc EXCEPT ![self] = "Acknowledge"]
                /\ UNCHANGED << db, underway, acked, returned, value, mine >>

Acknowledge(self) == /\ pc[self] = "Acknowledge"
                     /\ underway' = underway \ {self}
                     /\ acked' = Max(acked, mine[self])
                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                     /\ UNCHANGED << db, cache, returned, value, mine >>

TakeBack(self) == /\ pc[self] = "TakeBack"
                  /\ cache' = NoEntry
                  /\ pc' = [pc EXCEPT ![self] = "Reject"]
                  /\ UNCHANGED << db, underway, acked, returned, value, mine >>

Reject(self) == /\ pc[self] = "Reject"
                /\ underway' = underway \ {self}
                /\ pc' = [pc EXCEPT ![self] = "Done"]
                /\ UNCHANGED << db, cache, acked, returned, value, mine >>

writer(self) == Begin(self) \/ Announce(self) \/ Commit(self)
                   \/ Delete(self) \/ Acknowledge(self) \/ TakeBack(self)
                   \/ Reject(self)

Lose == /\ pc["cache"] = "Lose"
        /\ cache' = NoEntry
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

\* END TRANSLATION TLA-d3ff563b430dc43a4a4a08adfa1c4e99

====
