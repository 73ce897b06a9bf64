---- MODULE self_in_values ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Selves
variables owner = 0;
process P \in {1, 2}
variables me = self, peers = {1, 2} \ {self};
begin
  A: await owner = 0;
     owner := self;
  B: assert owner = self /\ me = self;
     owner := 0;
end process;
end algorithm; *)
====
