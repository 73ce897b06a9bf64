---- MODULE macro_label_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro M(a) begin L: x := a; end macro;
begin
  A: M(1);
end algorithm; *)
====
