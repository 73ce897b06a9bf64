---- MODULE if_without_end ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: if x = 0 then x := 1;
end algorithm; *)
====
