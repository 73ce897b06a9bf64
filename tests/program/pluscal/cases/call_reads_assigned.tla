---- MODULE call_reads_assigned ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Fresh
variables n = 0;
procedure P(t)
begin
  A: n := t;
     return;
end procedure;
begin
  S: n := 4;
     call P(n + 1);
     goto U;
  T: n := 0;
  U: skip;
end algorithm; *)
====
