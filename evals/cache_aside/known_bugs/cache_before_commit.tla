---- MODULE cache_before_commit ----
\* BUG: the writer puts the new value into the cache before the database has
\* accepted it (and takes it back if the database rejects it).
\* Unlike in the documents, reading the database and filling the cache are one
\* step here, so that nothing but this bug can break the requirement.
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

Max(a, b) == IF a >= b THEN a ELSE b

(* --algorithm cache_before_commit {
  variables
    db = 0,                                \* the version in the database
    cache = NoEntry,                       \* the version in the cache, or NoEntry
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
  ReadAndFill:
        value := db;
        cache := value;
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
  Acknowledge:
        underway := underway \ {self};
        acked := Max(acked, mine);
        mine := 0;
      } or { \* the database rejects the value: the entry is taken back
  TakeBack:
        cache := NoEntry;
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
      cache := NoEntry;
    }
  }
} *)

\* BEGIN TRANSLATION
\* END TRANSLATION

====
