---- MODULE procedure_after_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P = 1 begin A: x := 1; end process;
procedure Q() begin P1: return; end procedure;
end algorithm; *)
====
