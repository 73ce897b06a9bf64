---- MODULE label_without_statement ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A:
end algorithm; *)
====
