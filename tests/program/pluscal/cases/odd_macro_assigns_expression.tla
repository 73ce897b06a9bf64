---- MODULE odd_macro_assigns_expression ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro Up(v) begin v := v + 1; end macro;
begin
  A: Up(x + 1);
end algorithm; *)
====
