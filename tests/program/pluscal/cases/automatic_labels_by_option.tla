---- MODULE automatic_labels_by_option ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-label)
(* --algorithm SomeLabels
variables x = 0;
process P \in 1..2
begin
  A: x := 1;
     x := 2;
  B: x := 3;
end process;
end algorithm; *)
====
