---- MODULE primes_in_user_text ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Temporal
variables x = 0;
define
  Grows == [][x' >= x]_x
  Ends == <>(x = 2)
  Fair == WF_x(x' = x + 1)
end define;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
