---- MODULE process_same_labels_renamed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Twins
variables x = 0;
process P \in 1..2
begin
  Start: x := 1;
  Stop: skip;
end process;
process Q = 3
begin
  Start: x := 2;
  Stop: goto Start;
end process;
end algorithm; *)
====
