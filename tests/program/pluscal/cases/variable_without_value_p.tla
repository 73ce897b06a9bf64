---- MODULE variable_without_value_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Unset
variables late, set = {};
begin
  Set: late := 3;
  Use: set := {late};
end algorithm; *)
====
