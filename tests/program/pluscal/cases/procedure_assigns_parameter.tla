---- MODULE procedure_assigns_parameter ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Params {
  variables x = 0;
  procedure P(a = 0, b = 1) {
    A: a := b + 1;
       b := a;
    B: x := a + b;
       return;
  }
  {
    S: x := 1;
       call P(x, x + 1);
    T: skip;
  }
} *)
====
