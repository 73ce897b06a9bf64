---- MODULE label_defined_twice ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := 1;
  A: x := 2;
end algorithm; *)
====
