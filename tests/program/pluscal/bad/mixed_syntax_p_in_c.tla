---- MODULE mixed_syntax_p_in_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B {
  variables x = 0;
  { A: if (x = 0) then x := 1; end if; }
} *)
====
