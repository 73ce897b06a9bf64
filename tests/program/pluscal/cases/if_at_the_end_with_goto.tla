---- MODULE if_at_the_end_with_goto ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Back
variable x = 0;
begin
  A: x := x + 1;
     if x < 3 then goto A; end if;
end algorithm; *)
====
