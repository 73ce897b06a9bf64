---- MODULE label_error ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  Error: x := 1;
end algorithm; *)
====
