---- MODULE process_without_id ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P
begin A: x := 1; end process;
end algorithm; *)
====
