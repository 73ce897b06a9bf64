---- MODULE print_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Says {
  variables x = 0;
  {
    A: print x;
       x := 1;
       print <<"x is now", x>>;
  }
} *)
====
