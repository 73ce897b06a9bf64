---- MODULE odd_empty_body_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
end algorithm; *)
====
