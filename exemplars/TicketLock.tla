---- MODULE TicketLock ----
(* Ticket lock. Shows: p-syntax, macro, define, a history variable (written,
   never read), a bounded sequence, SYMMETRY.
   R1  At most one process holds the lock.
   R2  The lock is granted in the order in which the numbers were taken.
   R3  No two waiting processes have the same number, even after a wrap-around.
   Atomicity: taking a number is one step, as the hardware has fetch-and-add.
   Bounds: numbers wrap at MAX_TICKET, as in the real lock, so it runs for ever
   in finitely many states.
   SYMMETRY: processes differ in name only; no temporal property is checked. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Procs, MAX_TICKET
ASSUME Cardinality(Procs) <= MAX_TICKET

Tickets == 0..(MAX_TICKET - 1)
BoundedSeq(S, n) == UNION {[1..m -> S] : m \in 0..n}
Perms == Permutations(Procs)

(* --algorithm TicketLock
variables dispenser = 0, serving = 0, order = <<>>;   \* order: history

define
  After(t) == (t + 1) % MAX_TICKET
end define;

macro fetch_and_add(result, counter) begin
  result := counter;
  counter := After(counter);
end macro;

process proc \in Procs
variable ticket = 0;
begin
  take:
    while TRUE do
      fetch_and_add(ticket, dispenser);
      order := Append(order, self);
  wait:
      await serving = ticket;
  hold:
      serving := After(serving);
      order := Tail(order);
      ticket := 0;             \* not needed any more: forget it, fewer states
    end while;
end process;
end algorithm; *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-95c0a0dc52a93e19ed611c44cb0a35c9
VARIABLES dispenser, serving, order, pc

(* define statement *)
After(t) == (t + 1) % MAX_TICKET

VARIABLE ticket

vars == << dispenser, serving, order, pc, ticket >>

ProcSet == (Procs)

Init == (* Global variables *)
        /\ dispenser = 0
        /\ serving = 0
        /\ order = <<>>
        (* Process proc *)
        /\ ticket = [self \in Procs |-> 0]
        /\ pc = [self \in ProcSet |-> "take"]

take(self) == /\ pc[self] = "take"
              /\ ticket' = [ticket EXCEPT ![self] = dispenser]
              /\ dispenser' = After(dispenser)
              /\ order' = Append(order, self)
              /\ pc' = [pc EXCEPT ![self] = "wait"]
              /\ UNCHANGED serving

wait(self) == /\ pc[self] = "wait"
              /\ serving = ticket[self]
              /\ pc' = [pc EXCEPT ![self] = "hold"]
              /\ UNCHANGED << dispenser, serving, order, ticket >>

hold(self) == /\ pc[self] = "hold"
              /\ serving' = After(serving)
              /\ order' = Tail(order)
              /\ ticket' = [ticket EXCEPT ![self] = 0]
              /\ pc' = [pc EXCEPT ![self] = "take"]
              /\ UNCHANGED dispenser

proc(self) == take(self) \/ wait(self) \/ hold(self)

Next == (\E self \in Procs: proc(self))

Spec == Init /\ [][Next]_vars

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-5bb47ed6b7f57a7396702e5de1d80bee

Waiting == {p \in Procs : pc[p] \in {"wait", "hold"}}

\* the type of every variable
TypeOK == /\ dispenser \in Tickets
          /\ serving \in Tickets
          /\ order \in BoundedSeq(Procs, Cardinality(Procs))
          /\ ticket \in [Procs -> Tickets]
          /\ pc \in [Procs -> {"take", "wait", "hold"}]

\* covers R1
MutualExclusion == \A p, q \in Procs : pc[p] = "hold" /\ pc[q] = "hold" => p = q

\* covers R2
FirstComeFirstServed == \A p \in Procs : pc[p] = "hold" => p = Head(order)

\* covers R3
NumbersDiffer == \A p, q \in Waiting : p # q => ticket[p] # ticket[q]

\* everybody is in the queue
WitnessAllWait == Waiting = Procs

\* the dispenser has wrapped around while a process with a number from before waits
WitnessWrapped == \E p \in Waiting : dispenser < ticket[p]
====
