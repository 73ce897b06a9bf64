---- MODULE option_report_labels ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-reportLabels)
(* --algorithm Reported
variables x = 0;
begin
  x := 1;
  x := 2;
end algorithm; *)
====
