---- MODULE macro_unknown ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: Undefined(1);
end algorithm; *)
====
