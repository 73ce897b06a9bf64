---- MODULE automatic_labels_either ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm NoLabelsEither
variables x = 0, y = 0;
begin
  either
    x := 1;
    x := 2;
  or
    y := 1;
  end either;
  y := 2;
  with a \in {1, 2} do x := a; end with;
  x := 3;
end algorithm; *)
====
