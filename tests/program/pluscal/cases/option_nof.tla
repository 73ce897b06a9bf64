---- MODULE option_nof ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* PlusCal options (-nof) *)
(* --algorithm Nof
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
