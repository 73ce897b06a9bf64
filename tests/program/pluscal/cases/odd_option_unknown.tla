---- MODULE odd_option_unknown ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-nonsense)
(* --algorithm B
variables x = 0;
begin
  A: x := 1;
end algorithm; *)
====
