---- MODULE else_alone ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: else x := 1; end if;
end algorithm; *)
====
