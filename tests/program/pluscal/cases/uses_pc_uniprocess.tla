---- MODULE uses_pc_uniprocess ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WatchesItself
variables x = 0, where = "";
begin
  A: where := pc;
  B: x := 1;
end algorithm; *)
====
