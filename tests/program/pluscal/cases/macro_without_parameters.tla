---- MODULE macro_without_parameters ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Plain
variables x = 0;
macro Up() begin x := x + 1; end macro;
begin
  A: Up();
  B: Up();
end algorithm; *)
====
