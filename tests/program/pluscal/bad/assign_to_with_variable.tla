---- MODULE assign_to_with_variable ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: with t = 1 do t := 2; end with;
end algorithm; *)
====
