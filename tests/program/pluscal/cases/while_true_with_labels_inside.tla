---- MODULE while_true_with_labels_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Turning
variable i = 0;
begin
  L: while TRUE do
    i := i + 1;
  M: i := i - 1;
  end while;
end algorithm; *)
====
