---- MODULE with_equals_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Let
variables x = 0, y = 0;
begin
  A: with t = x + 1 do
       x := t;
       y := t + t;
     end with;
end algorithm; *)
====
