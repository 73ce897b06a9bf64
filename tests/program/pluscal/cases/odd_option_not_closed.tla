---- MODULE odd_option_not_closed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-wf
(* --algorithm B
variables x = 0;
begin
  A: x := 1;
end algorithm; *)
====
