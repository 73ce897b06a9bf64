---- MODULE automatic_labels_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm NoLabels
variables x = 0, y = 0;
begin
  x := 1;
  x := 2;
  y := x;
  while y > 0 do
    y := y - 1;
  end while;
  x := 3;
end algorithm; *)
====
