---- MODULE if_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Choose
variables x \in 0..2, y = 0;
begin
  A: if x = 0 then y := 1; end if;
  B: y := y + 1;
end algorithm; *)
====
