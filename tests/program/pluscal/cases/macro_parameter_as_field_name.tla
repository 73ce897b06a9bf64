---- MODULE macro_parameter_as_field_name ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Fields {
  variables r = [a |-> 0, b |-> 1]; m = 0;
  macro Send(a) { r := [a |-> a, b |-> r.b]; m := r.a + a; }
  { A: Send(5); B: Send(m); }
} *)
====
