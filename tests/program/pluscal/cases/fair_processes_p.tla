---- MODULE fair_processes_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm FairEach
variables x = 0;
fair process P \in 1..2
begin
  A: x := 1;
  B: x := 2;
end process;
fair+ process Q = 3
begin
  C: x := 1;
  D: x := 2;
end process;
process R = 4
begin
  E: x := 1;
end process;
end algorithm; *)
====
