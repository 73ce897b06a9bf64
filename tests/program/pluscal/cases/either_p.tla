---- MODULE either_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Either
variables x = 0, y = 0;
begin
  A: either x := 1; or x := 2; y := 2; or skip; end either;
  B: y := x;
end algorithm; *)
====
