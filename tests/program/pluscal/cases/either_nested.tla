---- MODULE either_nested ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Twice
variables x = 0, y = 0;
begin
  A: either
       either x := 1; or x := 2; end either;
       y := 1;
     or
       if x = 0 then y := 3; else y := 4; end if;
     end either;
end algorithm; *)
====
