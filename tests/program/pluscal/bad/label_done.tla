---- MODULE label_done ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  Done: x := 1;
  A: x := 2;
end algorithm; *)
====
