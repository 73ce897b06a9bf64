---- MODULE option_wf_uniprocess ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* PlusCal options (-wf) *)
(* --algorithm WfAlone
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
