---- MODULE translation_elsewhere ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* BEGIN TRANSLATION
\* END TRANSLATION
After == TRUE
(* --algorithm Elsewhere
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
