---- MODULE odd_unicode_operator ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x ∈ {1, 2};
begin
  A: x := 1;
end algorithm; *)
====
