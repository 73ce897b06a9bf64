---- MODULE variable_without_value_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Unset {
  variables late; set = {};
  {
    Set: late := 3;
    Use: set := {late};
  }
} *)
====
