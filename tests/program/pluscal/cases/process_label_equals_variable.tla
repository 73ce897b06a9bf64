---- MODULE process_label_equals_variable ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Clash
variables A = 0;
process P \in 1..2
begin
  A: skip;
  B: skip;
end process;
end algorithm; *)
====
