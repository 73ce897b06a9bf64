---- MODULE translation_of_2020_is_replaced ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Older
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-00000000000000000000000000000000
VARIABLE old
\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-00000000000000000000000000000000
====
