---- MODULE uses_done_and_pc ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WatchesOthers
variables x = 0;
process P \in 1..2
begin
  A: x := x + 1;
end process;
process Q = 3
begin
  B: await \A p \in 1..2 : pc[p] = "Done";
     x := 0;
end process;
end algorithm; *)
====
