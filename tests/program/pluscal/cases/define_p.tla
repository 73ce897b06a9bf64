---- MODULE define_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Defined
variables x = 0, y = 0;
define
  Sum == x + y
  Positive(n) == n > 0
  Both == /\ Positive(x)
          /\ Positive(y)
end define;
begin
  Go: x := Sum + 1;
end algorithm; *)
====
