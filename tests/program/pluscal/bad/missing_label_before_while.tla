---- MODULE missing_label_before_while ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: x := 1;
     while x < 3 do x := x + 1; end while;
end algorithm; *)
====
