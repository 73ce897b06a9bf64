---- MODULE macro_calls_macro ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Layers
variables x = 0, y = 0;
macro Inner(v) begin v := v + 1; end macro;
macro Outer(v, w) begin
  Inner(v);
  if w > 0 then Inner(w); else w := 1; end if;
end macro;
begin
  A: Outer(x, y);
  B: Outer(y, x);
end algorithm; *)
====
