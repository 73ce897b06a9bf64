---- MODULE single_await_only ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Blocks
variables x \in {0, 1};
begin
  A: await x = 1;
end algorithm; *)
====
