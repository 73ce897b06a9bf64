---- MODULE with_several_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Several
variables x = 0, y = 0;
begin
  A: with a \in 1..2, b = a + 1, c \in {a, b} do
       x := a + b;
       y := c;
     end with;
end algorithm; *)
====
