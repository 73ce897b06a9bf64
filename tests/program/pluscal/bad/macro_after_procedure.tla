---- MODULE macro_after_procedure ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
procedure P() begin P1: return; end procedure;
macro M() begin x := 1; end macro;
begin
  A: M();
end algorithm; *)
====
