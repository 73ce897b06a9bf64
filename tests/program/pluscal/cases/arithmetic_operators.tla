---- MODULE arithmetic_operators ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Numbers
variables n = 0, m \in -1..1;
begin
  A: n := -m + 2 * 3 - 4 \div 2 + 5 % 3;
  B: m := n ^ 2;
  C: n := IF n <= m /\ m >= n /\ n =< 7 THEN 1 ELSE -1;
  D: m := 2 - -n;
end algorithm; *)
====
