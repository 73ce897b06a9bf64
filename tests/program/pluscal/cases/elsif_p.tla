---- MODULE elsif_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Chain
variables x \in 0..5, y = 0, z = 0;
begin
  A: if x = 0 then y := 1;
     elsif x = 1 then z := 2;
     elsif x = 2 then y := 3; z := 3;
     else skip;
     end if;
end algorithm; *)
====
