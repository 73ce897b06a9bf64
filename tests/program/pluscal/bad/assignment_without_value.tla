---- MODULE assignment_without_value ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := ;
end algorithm; *)
====
