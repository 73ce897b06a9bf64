---- MODULE mixed_syntax_c_in_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: if (x = 0) { x := 1; }
end algorithm; *)
====
