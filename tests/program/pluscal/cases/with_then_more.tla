---- MODULE with_then_more ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Followed
variables x = 0, y = 0, z = 0;
begin
  A: with t \in {1, 2} do x := t; end with;
     y := x + 1;
     z := y + x;
  B: skip;
end algorithm; *)
====
