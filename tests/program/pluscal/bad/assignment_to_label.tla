---- MODULE assignment_to_label ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: A := 1;
end algorithm; *)
====
