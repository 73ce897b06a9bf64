---- MODULE with_without_value ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: with t do x := t; end with;
end algorithm; *)
====
