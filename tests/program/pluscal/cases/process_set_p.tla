---- MODULE process_set_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Set
variables x = 0;
process P \in 1..3
begin
  A: x := x + self;
  B: skip;
end process;
end algorithm; *)
====
