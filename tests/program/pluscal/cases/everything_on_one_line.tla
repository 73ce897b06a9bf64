---- MODULE everything_on_one_line ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Line variables x = 0; begin A: x := 1; B: if x = 1 then x := 2; end if; C: await x = 2; end algorithm *)
====
