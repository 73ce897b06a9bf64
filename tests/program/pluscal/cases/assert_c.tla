---- MODULE assert_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Claims {
  variables x = 0;
  {
    A: assert x = 0;
       x := 1;
       assert x = 1 /\ x # 2;
    B: assert (x > 0);
  }
} *)
====
