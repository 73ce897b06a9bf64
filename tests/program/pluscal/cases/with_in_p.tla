---- MODULE with_in_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Pick
variables x = 0, seen = {};
begin
  A: with t \in (1..4) \ seen do
       x := t;
       seen := seen \cup {t};
     end with;
  B: skip;
end algorithm; *)
====
