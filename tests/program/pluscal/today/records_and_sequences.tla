VARIABLES pc, msgs, net, last

vars == << pc, msgs, net, last >>

Init == (* Global variables *)
        /\ msgs = {}
        /\ net = <<>>
        /\ last = [type |-> "none"]
        /\ pc = "A"

A == /\ pc = "A"
     /\ msgs' = (msgs \cup {[type |-> "req", from |-> 1, to |-> 2]})
     /\ pc' = "B"
     /\ UNCHANGED << net, last >>

B == /\ pc = "B"
     /\ \E m \in {n \in msgs : n.type = "req"}:
          /\ net' = Append(net, m)
          /\ last' = [m EXCEPT !.type = "ack", !.to = @ + 1]
     /\ pc' = "C"
     /\ msgs' = msgs

C == /\ pc = "C"
     /\ net' = [net EXCEPT ![1].type = "seen"] \o <<last>>
     /\ pc' = "Done"
     /\ UNCHANGED << msgs, last >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

