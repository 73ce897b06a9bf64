---- MODULE RingElection ----
(***************************************************************************)
(* The reference for the election on a ring.  The alarm of a node, and the *)
(* receipt of a message with all that follows from it, are one step each.  *)
(*                                                                         *)
(* The requirements, and where the documents state them:                   *)
(*   R1   guarantees.md 1   well-formed values                             *)
(*   R2   guarantees.md 2   at most one leader                             *)
(*   R3   guarantees.md 3   only the highest identifier wins               *)
(*   R4   guarantees.md 4   a known leader has declared itself             *)
(*   R5   guarantees.md 5   nobody sends a smaller identifier              *)
(*   R6   guarantees.md 6   what a node sends is strictly rising           *)
(*   R7   guarantees.md 7   status and leader field agree                  *)
(*   R8   guarantees.md 8   a leader field is final                        *)
(*   R9   guarantees.md 9   eventually everybody knows the leader          *)
(*   R10  guarantees.md 10  eventually all links stay empty                *)
(*   R11  ring.md 1.2       identifiers never change                       *)
(*   R12  election.md 4.3   announcements come last                        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANT
  N               \* the number of nodes

ASSUME N \in Nat /\ N >= 2

Nodes == 1..N

\* The node that n sends to.
Successor(n) == IF n = N THEN 1 ELSE n + 1

\* All ways to hand out the identifiers.
Assignments == {f \in [Nodes -> 1..N] : \A a, b \in Nodes : a # b => f[a] # f[b]}

Candidate(i) == [kind |-> "candidate", id |-> i]
Elected(i) == [kind |-> "elected", id |-> i]

(* --algorithm RingElection {
  variables
    uid \in Assignments,                 \* the identifiers
    status = [n \in Nodes |-> "idle"],
    leader = [n \in Nodes |-> 0],        \* the leader as each node knows it
    inbox = [n \in Nodes |-> << >>],     \* the messages on the link to each node
    sent = [n \in Nodes |-> << >>];      \* the candidates that each node has sent

  macro SendOwn() {
    status[self] := "running";
    inbox[Successor(self)] := Append(inbox[Successor(self)], Candidate(uid[self]));
    sent[self] := Append(sent[self], uid[self]);
  }

  macro Swallow() {
    inbox[self] := Tail(inbox[self]);
  }

  \* Take the message from the link and send another one in its place.
  macro Replace(message) {
    inbox[self] := Tail(inbox[self]) ||
    inbox[Successor(self)] := Append(inbox[Successor(self)], message);
  }

  fair process (node \in Nodes)
  {
  Step:
    while (TRUE) {
      either { \* the alarm goes off
        await status[self] = "idle";
        SendOwn();
      }
      or { \* a message is received
        await inbox[self] # << >>;
        with (m = Head(inbox[self])) {
          if (m.kind = "candidate") {
            if (m.id > uid[self]) {
              Replace(m);
              sent[self] := Append(sent[self], m.id);
              if (status[self] = "idle") {
                status[self] := "running";
              }
            } else if (m.id = uid[self]) {
              status[self] := "leader";
              leader[self] := uid[self];
              Replace(Elected(uid[self]));
            } else if (status[self] = "idle") {
              status[self] := "running";
              Replace(Candidate(uid[self]));
              sent[self] := Append(sent[self], uid[self]);
            } else {
              Swallow();
            }
          } else {
            if (m.id # uid[self]) {
              status[self] := "follower";
              leader[self] := m.id;
              Replace(m);
            } else {
              Swallow();
            }
          }
        }
      }
      or { \* nothing to do
        await status[self] # "idle" /\ inbox[self] = << >>;
        skip;
      }
    }
  }
} *)
\* BEGIN TRANSLATION (chksum(pcal) = "936e0866" /\ chksum(tla) = "a18d986b")
VARIABLES uid, status, leader, inbox, sent

vars == << uid, status, leader, inbox, sent >>

ProcSet == (Nodes)

Init == (* Global variables *)
        /\ uid \in Assignments
        /\ status = [n \in Nodes |-> "idle"]
        /\ leader = [n \in Nodes |-> 0]
        /\ inbox = [n \in Nodes |-> << >>]
        /\ sent = [n \in Nodes |-> << >>]

node(self) == /\ \/ /\ status[self] = "idle"
                    /\ status' = [status EXCEPT ![self] = "running"]
                    /\ inbox' = [inbox EXCEPT ![Successor(self)] = Append(inbox[Successor(self)], Candidate(uid[self]))]
                    /\ sent' = [sent EXCEPT ![self] = Append(sent[self], uid[self])]
                    /\ UNCHANGED leader
                 \/ /\ inbox[self] # << >>
                    /\ LET m == Head(inbox[self]) IN
                         IF m.kind = "candidate"
                            THEN /\ IF m.id > uid[self]
                                       THEN /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self]),
                                                                      ![Successor(self)] = Append(inbox[Successor(self)], m)]
                                            /\ sent' = [sent EXCEPT ![self] = Append(sent[self], m.id)]
                                            /\ IF status[self] = "idle"
                                                  THEN /\ status' = [status EXCEPT ![self] = "running"]
                                                  ELSE /\ TRUE
                                                       /\ UNCHANGED status
                                            /\ UNCHANGED leader
                                       ELSE /\ IF m.id = uid[self]
                                                  THEN /\ status' = [status EXCEPT ![self] = "leader"]
                                                       /\ leader' = [leader EXCEPT ![self] = uid[self]]
                                                       /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self]),
                                                                                 ![Successor(self)] = Append(inbox[Successor(self)], (Elected(uid[self])))]
                                                       /\ sent' = sent
                                                  ELSE /\ IF status[self] = "idle"
                                                             THEN /\ status' = [status EXCEPT ![self] = "running"]
                                                                  /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self]),
                                                                                            ![Successor(self)] = Append(inbox[Successor(self)], (Candidate(uid[self])))]
                                                                  /\ sent' = [sent EXCEPT ![self] = Append(sent[self], uid[self])]
                                                             ELSE /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self])]
                                                                  /\ UNCHANGED << status, 
                                                                                  sent >>
                                                       /\ UNCHANGED leader
                            ELSE /\ IF m.id # uid[self]
                                       THEN /\ status' = [status EXCEPT ![self] = "follower"]
                                            /\ leader' = [leader EXCEPT ![self] = m.id]
                                            /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self]),
                                                                      ![Successor(self)] = Append(inbox[Successor(self)], m)]
                                       ELSE /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self])]
                                            /\ UNCHANGED << status, leader >>
                                 /\ sent' = sent
                 \/ /\ status[self] # "idle" /\ inbox[self] = << >>
                    /\ TRUE
                    /\ UNCHANGED <<status, leader, inbox, sent>>
              /\ uid' = uid

Next == (\E self \in Nodes: node(self))

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Nodes : WF_vars(node(self))

\* END TRANSLATION 

\* The highest identifier in the ring.
Highest == CHOOSE i \in 1..N : (\E n \in Nodes : uid[n] = i) /\ (\A n \in Nodes : uid[n] <= i)

Messages == {Candidate(i) : i \in 1..N} \union {Elected(i) : i \in 1..N}

\* covers R1
TypeOK ==
  /\ uid \in Assignments
  /\ status \in [Nodes -> {"idle", "running", "leader", "follower"}]
  /\ leader \in [Nodes -> 0..N]
  /\ DOMAIN inbox = Nodes
  /\ \A n \in Nodes : inbox[n] \in Seq(Messages) /\ Len(inbox[n]) <= N
  /\ DOMAIN sent = Nodes
  /\ \A n \in Nodes : sent[n] \in Seq(1..N) /\ Len(sent[n]) <= N

\* covers R2
AtMostOneLeader == Cardinality({n \in Nodes : status[n] = "leader"}) <= 1

\* covers R3
OnlyHighestWins == \A n \in Nodes : status[n] = "leader" => uid[n] = Highest

\* covers R4
KnownLeaderHasDeclared ==
  \A n \in Nodes : leader[n] # 0 =>
    \E m \in Nodes : uid[m] = leader[n] /\ status[m] = "leader"

\* covers R5
NobodySendsSmaller ==
  \A n \in Nodes : \A k \in DOMAIN sent[n] : sent[n][k] >= uid[n]

\* covers R6
SentRising ==
  \A n \in Nodes : \A j, k \in DOMAIN sent[n] : j < k => sent[n][j] < sent[n][k]

\* covers R7
StatusMatchesLeader ==
  \A n \in Nodes :
    /\ leader[n] = 0 <=> status[n] \in {"idle", "running"}
    /\ leader[n] = uid[n] <=> status[n] = "leader"
    /\ leader[n] \notin {0, uid[n]} <=> status[n] = "follower"

\* covers R12
AnnouncedAfterElection ==
  \A n \in Nodes : \A k \in DOMAIN inbox[n] :
    inbox[n][k].kind = "elected" =>
      /\ \E m \in Nodes : uid[m] = inbox[n][k].id /\ status[m] = "leader"
      /\ \A m \in Nodes : status[m] # "idle"
      /\ \A m \in Nodes : \A j \in DOMAIN inbox[m] : inbox[m][j].kind # "candidate"

\* covers R8
LeaderFieldFinal ==
  [][\A n \in Nodes : leader[n] # 0 => leader'[n] = leader[n]]_leader

\* covers R11
IdentifiersFixed == [][uid' = uid]_uid

\* covers R9
EventuallyAllKnow == <>(\A n \in Nodes : leader[n] # 0)

\* covers R10
EventuallySilent == <>[](\A n \in Nodes : inbox[n] = << >>)

\* Everybody knows the leader and the announcement is back.
WitnessSettled ==
  /\ \A n \in Nodes : leader[n] = Highest
  /\ \A n \in Nodes : inbox[n] = << >>

\* All alarms went off before anything was received.
WitnessAllStarted ==
  \A n \in Nodes : inbox[n] = << [kind |-> "candidate", id |-> uid[IF n = 1 THEN N ELSE n - 1]] >>

\* Two messages wait on one link.
WitnessQueue == \E n \in Nodes : Len(inbox[n]) > 1

\* Every node was drawn in by the winner's message and sent nothing of its own.
WitnessOneAlarm == \A n \in Nodes : sent[n] = << Highest >>

\* A node with a smaller identifier has passed on all the larger ones of the ring.
WitnessPassedOn == \E n \in Nodes : Len(sent[n]) = N

\* The leader has declared itself and nobody else knows it yet.
WitnessFreshLeader ==
  \E n \in Nodes : status[n] = "leader" /\ \A m \in Nodes \ {n} : leader[m] = 0

====
