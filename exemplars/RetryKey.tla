---- MODULE RetryKey ----
(* Payments over a network that loses messages: the client repeats a request,
   the server knows it by its key. Shows: c-syntax, single processes, channels
   as bounded sequences, weak and strong fairness, an unfair environment.
   R1  No payment is charged twice, however often it is asked for.
   R2  A payment that the client counts as made has been charged.
   R3  Unless the network loses everything, every payment is made in the end.
   Atomicity: charging and remembering the key is one transaction; as two
   steps, a retry between them could charge twice.
   Bounds: CAP messages a channel (a full one makes the sender wait), MAX_KEY
   payments one after the other; retries need no bound. The client repeats the
   last request for ever, so no run ends and TLC can look for deadlocks. Every
   process is one loop with one label: the translator then needs no pc.
   Fairness: the client sends (fair); what is sent again and again arrives
   (fair+); the network is never obliged to lose anything. *)
EXTENDS Naturals, Sequences

CONSTANTS MAX_KEY, CAP

Keys == 1..MAX_KEY
BoundedSeq(S, n) == UNION {[1..m -> S] : m \in 0..n}
Range(s) == {s[i] : i \in DOMAIN s}

(* --algorithm RetryKey {
  variables requests = <<>>, replies = <<>>,
            made = 0,                    \* the client: payments 1..made are made
            seen = {}, charges = <<>>;   \* the server: keys, and what it charged

  define { Asked == IF made < MAX_KEY THEN made + 1 ELSE made }

  fair process (sender = "sender") {
    send:
      while (TRUE) {
        await Len(requests) < CAP;
        requests := Append(requests, Asked);
      }
  }

  fair+ process (server = "server") {
    serve:
      while (TRUE) {
        await requests # <<>> /\ Len(replies) < CAP;
        with (k = Head(requests)) {
          requests := Tail(requests);
          replies := Append(replies, k);
          if (k \notin seen) {
            seen := seen \cup {k};
            charges := Append(charges, k);
          }
        }
      }
  }

  fair+ process (receiver = "receiver") {
    confirm:
      while (TRUE) {
        await replies # <<>>;
        made := IF Head(replies) > made THEN Head(replies) ELSE made;
        replies := Tail(replies);
      }
  }

  process (network = "network") {
    lose:
      while (TRUE) {
        either { await requests # <<>>; requests := Tail(requests) }
        or     { await replies # <<>>; replies := Tail(replies) }
      }
  }
} *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-20f71f34aafa67c3fb04099a6f6514e5
VARIABLES requests, replies, made, seen, charges

(* define statement *)
Asked == IF made < MAX_KEY THEN made + 1 ELSE made


vars == << requests, replies, made, seen, charges >>

ProcSet == {"sender"} \cup {"server"} \cup {"receiver"} \cup {"network"}

Init == (* Global variables *)
        /\ requests = <<>>
        /\ replies = <<>>
        /\ made = 0
        /\ seen = {}
        /\ charges = <<>>

sender == /\ Len(requests) < CAP
          /\ requests' = Append(requests, Asked)
          /\ UNCHANGED << replies, made, seen, charges >>

server == /\ requests # <<>> /\ Len(replies) < CAP
          /\ LET k == Head(requests) IN
               /\ requests' = Tail(requests)
               /\ replies' = Append(replies, k)
               /\ IF k \notin seen
                     THEN /\ seen' = (seen \cup {k})
                          /\ charges' = Append(charges, k)
                     ELSE /\ TRUE
                          /\ UNCHANGED << seen, charges >>
          /\ made' = made

receiver == /\ replies # <<>>
            /\ made' = (IF Head(replies) > made THEN Head(replies) ELSE made)
            /\ replies' = Tail(replies)
            /\ UNCHANGED << requests, seen, charges >>

network == /\ \/ /\ requests # <<>>
                 /\ requests' = Tail(requests)
                 /\ UNCHANGED replies
              \/ /\ replies # <<>>
                 /\ replies' = Tail(replies)
                 /\ UNCHANGED requests
           /\ UNCHANGED << made, seen, charges >>

Next == sender \/ server \/ receiver \/ network

Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(sender)
        /\ SF_vars(server)
        /\ SF_vars(receiver)

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-82eeb0cd2ab8e2df5fb4881a53d0d319

\* the type of every variable
TypeOK == /\ requests \in BoundedSeq(Keys, CAP)
          /\ replies \in BoundedSeq(Keys, CAP)
          /\ made \in 0..MAX_KEY
          /\ seen \subseteq Keys
          /\ charges \in BoundedSeq(Keys, MAX_KEY)

\* covers R1
ChargedOnce == \A i, j \in DOMAIN charges : charges[i] = charges[j] => i = j

\* covers R2
MadeIsCharged == 1..made \subseteq Range(charges)

\* covers R3
AllMade == <>(made = MAX_KEY)

\* a request is under way for what has been charged but is not confirmed
WitnessRetry == \E k \in Range(requests) : k \in seen /\ k > made

\* a confirmation is under way for what is confirmed already
WitnessLateReply == \E k \in Range(replies) : k <= made
====
