---- MODULE process_and_body ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P = 1 begin A: x := 1; end process;
begin
  C: skip;
end algorithm; *)
====
