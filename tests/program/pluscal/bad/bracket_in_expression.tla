---- MODULE bracket_in_expression ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := [i \in 1..2 |-> i;
  B: x := 2;
end algorithm; *)
====
