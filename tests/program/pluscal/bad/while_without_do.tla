---- MODULE while_without_do ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: while x < 3 x := 1; end while;
end algorithm; *)
====
