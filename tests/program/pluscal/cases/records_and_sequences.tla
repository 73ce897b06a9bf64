---- MODULE records_and_sequences ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Messages
variables msgs = {}, net = <<>>, last = [type |-> "none"];
begin
  A: msgs := msgs \cup {[type |-> "req", from |-> 1, to |-> 2]};
  B: with m \in {n \in msgs : n.type = "req"} do
       net := Append(net, m);
       last := [m EXCEPT !.type = "ack", !.to = @ + 1];
     end with;
  C: net := [net EXCEPT ![1].type = "seen"] \o <<last>>;
end algorithm; *)
====
