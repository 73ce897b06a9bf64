---- MODULE assignment_twice ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := 1;
     x := 2;
end algorithm; *)
====
