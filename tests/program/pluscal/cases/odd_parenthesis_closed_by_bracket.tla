---- MODULE odd_parenthesis_closed_by_bracket ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := (1 + 2];
end algorithm; *)
====
