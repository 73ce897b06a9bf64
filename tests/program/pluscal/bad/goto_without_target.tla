---- MODULE goto_without_target ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: goto;
end algorithm; *)
====
