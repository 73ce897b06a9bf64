---- MODULE if_without_then ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: if x = 0 x := 1; end if;
end algorithm; *)
====
