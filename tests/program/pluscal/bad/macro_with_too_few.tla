---- MODULE macro_with_too_few ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro M(a, b) begin x := a + b; end macro;
begin
  A: M(1);
end algorithm; *)
====
