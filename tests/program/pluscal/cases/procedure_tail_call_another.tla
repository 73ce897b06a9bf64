---- MODULE procedure_tail_call_another ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm TailOther
variables n = 3;
procedure First(a = 1, b)
variables l1 = 5;
begin
  P1: n := a;
      call Second(n);
      return;
end procedure;
procedure Second(c)
variables l2 = 6, l3;
begin
  Q1: n := c;
      return;
end procedure;
begin
  Main: call First(n, 2);
end algorithm; *)
====
