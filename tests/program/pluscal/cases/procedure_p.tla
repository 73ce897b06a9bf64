---- MODULE procedure_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Calls
variables x = 0;
procedure Add(n = 0)
begin
  A: x := x + n;
  B: return;
end procedure;
begin
  S: call Add(1);
  T: call Add(x + 1);
end algorithm; *)
====
