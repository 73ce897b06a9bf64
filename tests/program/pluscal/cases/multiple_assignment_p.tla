---- MODULE multiple_assignment_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Swap
variables x = 1, y = 2;
begin
  A: x := y || y := x;
  B: x := x + y;
     y := x;
end algorithm; *)
====
