---- MODULE call_of_unknown ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: call Unknown(1);
end algorithm; *)
====
