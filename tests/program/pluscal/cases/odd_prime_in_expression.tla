---- MODULE odd_prime_in_expression ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x' := 1;
end algorithm; *)
====
