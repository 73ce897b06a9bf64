---- MODULE done_as_a_target_in_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm LeavesEarly
variables x = 0;
process P \in 1..2
begin
  A: if x = 0 then goto Done; end if;
  B: x := 1;
end process;
end algorithm; *)
====
