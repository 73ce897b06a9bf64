---- MODULE parenthesis_in_expression ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := (1 + 2;
  B: x := 2;
end algorithm; *)
====
