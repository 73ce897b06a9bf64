---- MODULE missing_label_after_goto ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: goto A;
     x := 1;
end algorithm; *)
====
