---- MODULE missing_semicolon ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0, y = 0;
begin
  A: x := 1
     y := 2;
end algorithm; *)
====
