---- MODULE label_inside_with_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: with t \in {1, 2} do
       x := t;
       B: x := 2;
     end with;
end algorithm; *)
====
