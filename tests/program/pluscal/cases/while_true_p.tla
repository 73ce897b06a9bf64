---- MODULE while_true_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Forever
variable i = 0;
begin
  L: while TRUE do
    i := (i + 1) % 3;
  end while;
end algorithm; *)
====
