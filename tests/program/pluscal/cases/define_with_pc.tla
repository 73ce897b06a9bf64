---- MODULE define_with_pc ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WatchesPc
variable x = 0;
define
  AtEnd == pc = "Done"
end define;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
