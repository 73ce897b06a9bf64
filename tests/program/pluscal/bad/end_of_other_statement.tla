---- MODULE end_of_other_statement ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: if x = 0 then x := 1; end while;
end algorithm; *)
====
