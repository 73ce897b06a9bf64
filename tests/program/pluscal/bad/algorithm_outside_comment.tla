---- MODULE algorithm_outside_comment ----
EXTENDS Integers, Sequences, FiniteSets, TLC
--algorithm B
variables x = 0;
begin
  A: x := 1;
end algorithm;
====
