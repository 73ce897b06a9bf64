---- MODULE process_one_step_forever ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Ticking
variables t = 0;
process Clock \in 1..2
begin
  Tick: while TRUE do t := t + 1; end while;
end process;
end algorithm; *)
====
