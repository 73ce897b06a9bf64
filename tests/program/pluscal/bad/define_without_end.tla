---- MODULE define_without_end ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
define
  D == x
begin
  A: x := 1;
end algorithm; *)
====
