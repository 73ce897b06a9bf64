---- MODULE missing_end ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := 1;
*)
====
