---- MODULE define_before_variables ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
define
  D == 1
end define;
variables x = 0;
begin
  A: x := 1;
end algorithm; *)
====
