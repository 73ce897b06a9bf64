---- MODULE many_labels_in_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm ManyLabels
variables x = 0;
process P \in 1..2
begin
  LongLabelNumberOne: x := 1;
  LongLabelNumberTwo: x := 2;
  LongLabelNumberThree: x := 3;
  LongLabelNumberFour: x := 4;
  LongLabelNumberFive: x := 5;
  LongLabelNumberSix: x := 6;
end process;
end algorithm; *)
====
