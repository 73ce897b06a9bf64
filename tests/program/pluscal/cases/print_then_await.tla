---- MODULE print_then_await ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Order
variables x = 0;
begin
  A: print "before";
     await x = 0;
     x := x + 1;
     print x;
     await x = 1;
  B: skip;
end algorithm; *)
====
