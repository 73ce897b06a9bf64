---- MODULE comment_not_closed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0; (* left open
begin
  A: x := 1;
end algorithm; *)
====
