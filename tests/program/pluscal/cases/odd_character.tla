---- MODULE odd_character ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := 1 ? 2;
end algorithm; *)
====
