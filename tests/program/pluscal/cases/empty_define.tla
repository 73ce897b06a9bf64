---- MODULE empty_define ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm NoDefinitions
variables x = 0;
define
end define;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
