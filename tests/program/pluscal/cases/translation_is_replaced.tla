---- MODULE translation_is_replaced ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Replaced
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
\* BEGIN TRANSLATION
VARIABLE old
Init == old = 0
\* END TRANSLATION
After == x = 2
====
