---- MODULE macro_argument_is_expression ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Arguments
variables x = 1, y = 2, r = [x |-> 0];
macro Product(p, q, out) begin out := p * q; end macro;
begin
  A: Product(x + 1, y - 1, x);
  B: Product(x, Head(<<y, x>>), y);
  C: Product(r.x, IF x > 0 THEN 1 ELSE 2, r.x);
end algorithm; *)
====
