---- MODULE with_without_do ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: with t \in {1} x := t; end with;
end algorithm; *)
====
