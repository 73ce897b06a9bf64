---- MODULE option_sf_uniprocess ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* PlusCal options (-sf) *)
(* --algorithm SfAlone
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
