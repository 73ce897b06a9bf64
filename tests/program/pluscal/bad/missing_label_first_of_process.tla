---- MODULE missing_label_first_of_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P \in 1..2
begin
  x := 1;
  A: x := 2;
end process;
end algorithm; *)
====
