---- MODULE goto_into_other_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P = 1 begin A: x := 1; end process;
process Q = 2 begin C: goto A; end process;
end algorithm; *)
====
