---- MODULE fair_algorithm_with_processes ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --fair algorithm FairAll
variables x = 0;
process P \in 1..2
begin
  A: x := 1;
end process;
process Q = 3
begin
  B: x := 1;
end process;
end algorithm; *)
====
