---- MODULE label_modifier_in_unfair ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A:* x := 1;
end algorithm; *)
====
