---- MODULE FencedLease ----
(* A lease that may run out under its holder, and a store that fences off late
   writers. Shows: c-syntax, a process set beside a single process, either/or,
   time without a clock, a history variable (written, never read), SYMMETRY.
   R1  Every lease carries a token of its own, higher than all before it.
   R2  The store never accepts a token lower than one it has accepted.
   R3  Whom the service regards as the holder has the newest token.
   Atomicity: a label for each message the service or the store handles. Time
   passes between labels, so a pause needs no step of its own; a lease may run
   out whenever it is held, so time needs no number.
   Bounds: the service issues MAX_TOKEN leases, then all processes end. *)
EXTENDS Naturals, Sequences, TLC

CONSTANTS Clients, NoOne, MAX_TOKEN

BoundedSeq(S, n) == UNION {[1..m -> S] : m \in 0..n}
Perms == Permutations(Clients)

(* --algorithm FencedLease {
  variables holder = NoOne, issued = 0,   \* the lease service
            fence = 0, accepted = <<>>;   \* the store, and history

  process (client \in Clients)
    variable token = 0;                   \* 0: none
  {
    acquire:
      while (issued < MAX_TOKEN) {
        await holder = NoOne;
        issued := issued + 1;
        token := issued;
        holder := self;
    write:
        either {
          if (token >= fence) {
            fence := token;
            accepted := Append(accepted, token);
          }
        } or skip;                        \* the write is lost on its way
    release:
        if (holder = self) { holder := NoOne };
        token := 0;
      }
  }

  process (timer = "timer") {
    expire:
      while (issued < MAX_TOKEN \/ holder # NoOne) {
        await holder # NoOne;
        holder := NoOne;
      }
  }
} *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-360e774c43af3ff6f9b801b62d981481
VARIABLES holder, issued, fence, accepted, pc, token

vars == << holder, issued, fence, accepted, pc, token >>

ProcSet == (Clients) \cup {"timer"}

Init == (* Global variables *)
        /\ holder = NoOne
        /\ issued = 0
        /\ fence = 0
        /\ accepted = <<>>
        (* Process client *)
        /\ token = [self \in Clients |-> 0]
        /\ pc = [self \in ProcSet |-> CASE self \in Clients -> "acquire"
                                        [] self = "timer" -> "expire"]

acquire(self) == /\ pc[self] = "acquire"
                 /\ IF issued < MAX_TOKEN
                       THEN /\ holder = NoOne
                            /\ issued' = issued + 1
                            /\ token' = [token EXCEPT ![self] = issued']
                            /\ holder' = self
                            /\ pc' = [pc EXCEPT ![self] = "write"]
                       ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                            /\ UNCHANGED << holder, issued, token >>
                 /\ UNCHANGED << fence, accepted >>

write(self) == /\ pc[self] = "write"
               /\ \/ /\ IF token[self] >= fence
                           THEN /\ fence' = token[self]
                                /\ accepted' = Append(accepted, token[self])
                           ELSE /\ TRUE
                                /\ UNCHANGED << fence, accepted >>
                  \/ /\ TRUE
                     /\ UNCHANGED <<fence, accepted>>
               /\ pc' = [pc EXCEPT ![self] = "release"]
               /\ UNCHANGED << holder, issued, token >>

release(self) == /\ pc[self] = "release"
                 /\ IF holder = self
                       THEN /\ holder' = NoOne
                       ELSE /\ TRUE
                            /\ UNCHANGED holder
                 /\ token' = [token EXCEPT ![self] = 0]
                 /\ pc' = [pc EXCEPT ![self] = "acquire"]
                 /\ UNCHANGED << issued, fence, accepted >>

client(self) == acquire(self) \/ write(self) \/ release(self)

expire == /\ pc["timer"] = "expire"
          /\ IF issued < MAX_TOKEN \/ holder # NoOne
                THEN /\ holder # NoOne
                     /\ holder' = NoOne
                     /\ pc' = [pc EXCEPT !["timer"] = "expire"]
                ELSE /\ pc' = [pc EXCEPT !["timer"] = "Done"]
                     /\ UNCHANGED holder
          /\ UNCHANGED << issued, fence, accepted, token >>

timer == expire

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == timer
           \/ (\E self \in Clients: client(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-fe714121c29c6515fc81e1fbbd178249

\* the type of every variable
TypeOK == /\ holder \in Clients \cup {NoOne}
          /\ issued \in 0..MAX_TOKEN
          /\ fence \in 0..MAX_TOKEN
          /\ accepted \in BoundedSeq(1..MAX_TOKEN, MAX_TOKEN)
          /\ token \in [Clients -> 0..MAX_TOKEN]
          /\ DOMAIN pc = Clients \cup {"timer"}
          /\ \A c \in Clients : pc[c] \in {"acquire", "write", "release", "Done"}
          /\ pc["timer"] \in {"expire", "Done"}

\* covers R1
OwnToken == \A c, d \in Clients : c # d /\ token[c] # 0 => token[c] # token[d]

\* covers R2
NoLateWrite == \A i, j \in DOMAIN accepted : i < j => accepted[i] <= accepted[j]

\* covers R1, R3
HolderIsNewest == holder # NoOne => token[holder] = issued

\* a client that slept through the end of its lease writes behind a newer one
WitnessFencedOff == \E c \in Clients : pc[c] = "write" /\ token[c] < fence

\* two clients believe at once that the lease is theirs
WitnessTwoBelieve == \E c, d \in Clients : c # d /\ pc[c] = "write" /\ pc[d] = "write"
====
