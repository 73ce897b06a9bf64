---- MODULE odd_unicode_assignment ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x ≔ 1;
end algorithm; *)
====
