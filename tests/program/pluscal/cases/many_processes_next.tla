---- MODULE many_processes_next ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm ManyNext
variables x = 0;
process ProcessWithLongName1 \in 1..2 begin A1: x := 1; end process;
process ProcessWithLongName2 \in 3..4 begin A2: x := 1; end process;
process ProcessWithLongName3 = 5 begin A3: x := 1; end process;
process ProcessWithLongName4 = 6 begin A4: x := 1; end process;
process ProcessWithLongName5 \in 7..9 begin A5: x := 1; A6: x := 2; end process;
end algorithm; *)
====
