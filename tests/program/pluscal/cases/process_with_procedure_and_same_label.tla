---- MODULE process_with_procedure_and_same_label ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm SameLabel
variables x = 0;
procedure P()
begin
  A: x := 1;
  B: return;
end procedure;
process Q \in 1..2
begin
  A: call P();
  B: x := 0;
end process;
end algorithm; *)
====
