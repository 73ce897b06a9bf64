---- MODULE macro_assigns_array_element ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Cells
variables f = [i \in 1..2 |-> 0], k = 1;
macro Inc(c) begin c := c + 1; end macro;
begin
  A: Inc(f[1]);
  B: Inc(f[k + 1]);
end algorithm; *)
====
