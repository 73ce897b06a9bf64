---- MODULE procedure_with_locals_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Locals {
  variables out = 0;
  procedure Mul(a, b)
    variables i = 0; acc = 0;
  {
    L: while (i < a) {
         acc := acc + b;
         i := i + 1;
       };
       out := acc;
       return;
  }
  { S: call Mul(2, 3); }
} *)
====
