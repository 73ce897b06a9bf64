---- MODULE late_declaration ----
\* BUG: the winner announces itself when its candidate message returns, but
\* declares itself only when the announcement has come around.
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

(* --algorithm late_declaration {
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
              status[self] := "leader";
              leader[self] := uid[self];
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
\* BEGIN TRANSLATION (chksum(pcal) = "20ce767f" /\ chksum(tla) = "4dc623f2")
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
                                       ELSE /\ IF m.id = uid[self]
                                                  THEN /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self]),
                                                                                 ![Successor(self)] = Append(inbox[Successor(self)], (Elected(uid[self])))]
                                                       /\ UNCHANGED << status, 
                                                                       sent >>
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
                                       ELSE /\ status' = [status EXCEPT ![self] = "leader"]
                                            /\ leader' = [leader EXCEPT ![self] = uid[self]]
                                            /\ inbox' = [inbox EXCEPT ![self] = Tail(inbox[self])]
                                 /\ sent' = sent
                 \/ /\ status[self] # "idle" /\ inbox[self] = << >>
                    /\ TRUE
                    /\ UNCHANGED <<status, leader, inbox, sent>>
              /\ uid' = uid

Next == (\E self \in Nodes: node(self))

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Nodes : WF_vars(node(self))

\* END TRANSLATION 

====
