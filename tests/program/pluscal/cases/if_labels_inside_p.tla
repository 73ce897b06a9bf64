---- MODULE if_labels_inside_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Branches
variables x \in 0..2, y = 0;
begin
  A: if x = 0 then
       y := 1;
       B: y := 2;
     elsif x = 1 then
       C: y := 3;
       D: y := 4;
     else
       y := 5;
     end if;
  E: y := 6;
end algorithm; *)
====
