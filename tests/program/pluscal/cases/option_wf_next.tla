---- MODULE option_wf_next ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* PlusCal options (-wfNext) *)
(* --algorithm WfNext
variables x = 0;
process P \in 1..2
begin
  A: x := 1;
end process;
end algorithm; *)
====
