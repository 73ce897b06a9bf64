---- MODULE delete_before_update ----
\* BUG: the writer deletes the entry and voids the tokens before it updates the
\* database; a reader can fill the cache with the old row in between.
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

(* --algorithm delete_before_update {
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
  Delete:
    cache := NoEntry;
    leases := {};
  Commit:
    either { \* the database accepts the value
      db := db + 1;
      mine := db;
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

\* BEGIN TRANSLATION PCal-98d94cf4cf264b7ef2c137ad46467e1a
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
               /\ pc' = [pc EXCEPT ![self] = "Delete"]
               /\ UNCHANGED << db, cache, leases, acked, returned, value, mine >>

Delete(self) == /\ pc[self] = "Delete"
                /\ cache' = NoEntry
                /\ leases' = {}
                /\ pc' = [pc EXCEPT ![self] = "Commit"]
                /\ UNCHANGED << db, underway, acked, returned, value, mine >>

Commit(self) == /\ pc[self] = "Commit"
                /\ \/ /\ db' = db + 1
                      /\ mine' = [mine EXCEPT ![self] = db']
                      /\ pc' = [pc EXCEPT ![self] = "Acknowledge"]
                      /\ UNCHANGED underway
                   \/ /\ underway' = underway \ {self}
                      /\ pc' = [pc EXCEPT ![self] = "Done"]
                      /\ UNCHANGED <<db, mine>>
                /\ UNCHANGED << cache, leases, acked, returned, value >>

Acknowledge(self) == /\ pc[self] = "Acknowledge"
                     /\ underway' = underway \ {self}
                     /\ acked' = Max(acked, mine[self])
                     /\ pc' = [pc EXCEPT ![self] = "Done"]
                     /\ UNCHANGED << db, cache, leases, returned, value, mine >>

writer(self) == Begin(self) \/ Delete(self) \/ Commit(self)
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

\* END TRANSLATION TLA-8e0e457a9fd346e42fce91a868ea8370

====
