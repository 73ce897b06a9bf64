---- MODULE process_one_step_forever_with_locals ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm TickingEach
process Clock \in 1..2
variables t = 0;
begin
  Tick: while TRUE do t := t + 1; end while;
end process;
end algorithm; *)
====
