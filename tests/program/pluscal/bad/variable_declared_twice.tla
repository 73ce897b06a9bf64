---- MODULE variable_declared_twice ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0, x = 1;
begin
  A: x := 1;
end algorithm; *)
====
