---- MODULE variable_named_keyword ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables while = 0;
begin
  A: while := 1;
end algorithm; *)
====
