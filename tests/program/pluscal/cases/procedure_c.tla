---- MODULE procedure_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Calls {
  variables x = 0;
  procedure Add(n = 0) {
    A: x := x + n;
    B: return;
  }
  {
    S: call Add(1);
    T: call Add(x + 1);
  }
} *)
====
