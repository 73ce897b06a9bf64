---- MODULE either_without_or ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: either x := 1; end either;
end algorithm; *)
====
