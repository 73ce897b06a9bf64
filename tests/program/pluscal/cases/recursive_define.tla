---- MODULE recursive_define ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Recurses
variables s = <<1, 2, 3>>, total = 0;
define
  RECURSIVE Sum(_)
  Sum(q) == IF q = <<>> THEN 0 ELSE Head(q) + Sum(Tail(q))
  Fac[n \in 0..5] == IF n = 0 THEN 1 ELSE n * Fac[n - 1]
end define
begin
  A: total := Sum(s) + Fac[3];
end algorithm; *)
====
