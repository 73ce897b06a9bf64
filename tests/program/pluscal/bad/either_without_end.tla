---- MODULE either_without_end ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: either x := 1; or x := 2;
end algorithm; *)
====
