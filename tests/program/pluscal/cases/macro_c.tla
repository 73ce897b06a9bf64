---- MODULE macro_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Macros {
  variables x = 0; sem = 1;
  macro Take(s) {
    await s > 0;
    s := s - 1;
  }
  macro Give(s) { s := s + 1; }
  macro Set(v, e) { v := e }
  {
    A: Take(sem);
       Set(x, x + 1);
    B: Give(sem);
  }
} *)
====
