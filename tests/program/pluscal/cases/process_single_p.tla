---- MODULE process_single_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Single
variables x = 0;
process Left = "left"
begin
  A: x := 1;
  B: x := 3;
end process;
process Right = "right"
begin
  C: x := 2;
end process;
end algorithm; *)
====
