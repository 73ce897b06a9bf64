---- MODULE skip_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Nothing
begin
  skip;
end algorithm; *)
====
