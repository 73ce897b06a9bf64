---- MODULE process_defined_twice ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P = 1 begin A: x := 1; end process;
process P = 2 begin C: x := 1; end process;
end algorithm; *)
====
