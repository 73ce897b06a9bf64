---- MODULE string_not_closed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = "open;
begin
  A: x := "b";
end algorithm; *)
====
