---- MODULE macro_defined_twice ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro M() begin x := 1; end macro;
macro M() begin x := 2; end macro;
begin
  A: M();
end algorithm; *)
====
