---- MODULE odd_with_variable_equals_variable ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: with x \in {1, 2} do skip; end with;
end algorithm; *)
====
