---- MODULE option_several_in_one_line ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-wf -termination, -label)
(* --algorithm Manyfold
variables x = 0;
begin
  x := 1;
  x := 2;
end algorithm; *)
====
