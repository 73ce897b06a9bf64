---- MODULE macro_recursive ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro M(a) begin M(a + 1); end macro;
begin
  A: M(1);
end algorithm; *)
====
