---- MODULE variable_named_pc ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables pc = 0;
begin
  A: pc := 1;
end algorithm; *)
====
