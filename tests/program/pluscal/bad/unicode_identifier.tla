---- MODULE unicode_identifier ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables größe = 0;
begin
  A: größe := 1;
end algorithm; *)
====
