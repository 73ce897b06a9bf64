---- MODULE local_shadows_nothing_with ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WithNames
variables x = 0;
process P \in 1..2
variables i = 0;
begin
  A: with j \in {1, 2}, k = j + i do
       i := j;
       x := k + i;
     end with;
  B: x := i;
end process;
end algorithm; *)
====
