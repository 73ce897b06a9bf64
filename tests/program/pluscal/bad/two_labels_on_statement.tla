---- MODULE two_labels_on_statement ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: C: x := 1;
end algorithm; *)
====
