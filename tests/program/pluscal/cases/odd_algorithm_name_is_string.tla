---- MODULE odd_algorithm_name_is_string ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm "B"
begin
  A: skip;
end algorithm; *)
====
