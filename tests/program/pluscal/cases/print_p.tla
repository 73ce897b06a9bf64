---- MODULE print_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Says
variables x = 0;
begin
  A: print x;
     x := 1;
     print <<"x is now", x>>;
end algorithm; *)
====
