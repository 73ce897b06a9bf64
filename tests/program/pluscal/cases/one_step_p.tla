---- MODULE one_step_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm OneStep
variable x = 0;
begin
  Only: x := x + 1;
end algorithm *)
====
