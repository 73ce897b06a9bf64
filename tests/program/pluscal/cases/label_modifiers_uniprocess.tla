---- MODULE label_modifiers_uniprocess ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --fair algorithm ModifiedAlone
variables x = 0;
begin
  A:+ x := 1;
  B:- x := 2;
  C: x := 3;
end algorithm; *)
====
