---- MODULE elsif_without_else ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Chain
variables x \in 0..5, y = 0;
begin
  A: if x = 0 then y := 1;
     elsif x = 1 then y := 2;
     end if;
  B: y := 7;
end algorithm; *)
====
