---- MODULE option_wf ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-wf)
(* --algorithm Wf
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
