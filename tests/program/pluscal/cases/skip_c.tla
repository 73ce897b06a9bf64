---- MODULE skip_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Nothing {
  { skip; }
} *)
====
