---- MODULE odd_macro_while_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro M(a) begin while x < a do x := x + 1; end while; end macro;
begin
  A: M(1);
end algorithm; *)
====
