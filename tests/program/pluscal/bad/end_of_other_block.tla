---- MODULE end_of_other_block ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
process P = 1 begin A: x := 1; end procedure;
end algorithm; *)
====
