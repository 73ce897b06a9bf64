---- MODULE await_empty ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: await;
end algorithm; *)
====
