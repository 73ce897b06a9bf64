---- MODULE goto_nowhere ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: goto Nowhere;
end algorithm; *)
====
