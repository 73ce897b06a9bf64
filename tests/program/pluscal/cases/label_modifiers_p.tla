---- MODULE label_modifiers_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Modified
variables x = 0;
fair process P \in 1..2
begin
  A:+ x := 1;
  B:- x := 2;
  C: x := 3;
end process;
fair+ process Q = 3
begin
  D:- x := 1;
  E: x := 2;
end process;
end algorithm; *)
====
