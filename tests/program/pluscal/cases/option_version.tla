---- MODULE option_version ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (version 1.8)
(* --algorithm Versioned
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
