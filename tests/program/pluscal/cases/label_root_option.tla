---- MODULE label_root_option ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-labelRoot Auto -label)
(* --algorithm Rooted
variables x = 0;
begin
  x := 1;
  x := 2;
  x := 3;
end algorithm; *)
====
