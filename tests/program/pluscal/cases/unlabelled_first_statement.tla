---- MODULE unlabelled_first_statement ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm NoFirst
variables x = 0;
begin
  x := 1;
end algorithm; *)
====
