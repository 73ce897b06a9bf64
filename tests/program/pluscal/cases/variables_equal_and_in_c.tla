---- MODULE variables_equal_and_in_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Declared {
  variables a = 1; b \in 1..3; c = <<1, 2>>; d = [k \in 1..2 |-> k];
  {
    First: a := b;
    Second: d[1] := a;
  }
} *)
====
