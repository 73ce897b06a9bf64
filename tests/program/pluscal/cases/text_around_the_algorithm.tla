---- MODULE text_around_the_algorithm ----
EXTENDS Integers, Sequences, FiniteSets, TLC
Before == "BEGIN"
(* Some prose, and then
   --algorithm Around
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm
   and prose behind it. *) \* a remark
After == 1
====
