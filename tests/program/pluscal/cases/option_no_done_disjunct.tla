---- MODULE option_no_done_disjunct ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-noDoneDisjunct)
(* --algorithm NoStutter
variables x = 0;
process P \in 1..2
begin
  A: x := 1;
end process;
end algorithm; *)
====
