---- MODULE with_labelled_after ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm AfterWith
variables x = 0, y = 0;
begin
  A: with t \in {1, 2} do
       x := t;
       if t = 1 then y := t; end if;
     end with;
     if x = 1 then
       B: y := 3;
     end if;
  C: skip;
end algorithm; *)
====
