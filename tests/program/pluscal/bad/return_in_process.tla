---- MODULE return_in_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P \in 1..2 begin A: return; end process;
end algorithm; *)
====
