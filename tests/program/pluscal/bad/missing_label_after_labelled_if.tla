---- MODULE missing_label_after_labelled_if ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: if x = 0 then
       B: x := 1;
     end if;
     x := 2;
end algorithm; *)
====
