---- MODULE missing_label_after_labelled_either ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: either B: x := 1; or skip; end either;
     x := 2;
end algorithm; *)
====
