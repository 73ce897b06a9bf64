---- MODULE process_single_locals ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm OnlyMine
process P = "me"
variables a = 0, b \in 1..2, c;
begin
  A: a := b;
  B: c := a + b;
end process;
end algorithm; *)
====
