---- MODULE option_termination ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* PlusCal options (-termination) *)
(* --algorithm Ends
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
