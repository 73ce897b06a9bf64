---- MODULE assignment_twice_in_with ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: with a = 1 do x := a; x := a + 1; end with;
end algorithm; *)
====
