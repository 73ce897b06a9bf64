---- MODULE await_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Wait
variables x = 0;
begin
  A: await x = 0;
     x := 1;
  B: when x = 1;
     x := 2;
  C: x := 3;
     await x > 2;
end algorithm; *)
====
