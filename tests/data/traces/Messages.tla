---- MODULE Messages ----
\* Clients ask a server for a lock; the network is a set of messages, and the server has a queue.
EXTENDS Naturals, Sequences
CONSTANT Clients
(* --algorithm Messages
variables network = {}, queue = <<>>, granted = [c \in Clients |-> FALSE];
define
  AtMostOne == \A c, d \in Clients : granted[c] /\ granted[d] => c = d
  ShortQueue == Len(queue) <= 2
  Safe == /\ ShortQueue
          /\ AtMostOne
end define;
process server = "server"
begin
  Serve:
    while TRUE do
      either
        with message \in {m \in network : m.to = "server"} do
          network := network \ {message};
          queue := Append(queue, message.from);
        end with;
      or
        await queue # <<>>;
        network := network \union {[from |-> "server", to |-> Head(queue), grant |-> TRUE]};
        queue := Tail(queue);
      end either;
    end while;
end process;
process client \in Clients
begin
  Ask:
    network := network \union {[from |-> self, to |-> "server", grant |-> FALSE]};
  Wait:
    with message \in {m \in network : m.to = self} do
      network := network \ {message};
      granted[self] := message.grant;
    end with;
end process;
end algorithm; *)
====
