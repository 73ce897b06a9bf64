---- MODULE no_variables_at_all ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Idle
begin
  Here: skip;
  There: skip;
end algorithm; *)
====
