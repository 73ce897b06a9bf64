---- MODULE with_after_assignment ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Behind
variables x = 0, y = 0;
begin
  A: x := x + 1;
     with t \in 0..x do y := t + x; end with;
end algorithm; *)
====
