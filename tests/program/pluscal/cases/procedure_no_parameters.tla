---- MODULE procedure_no_parameters ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Bare
variables x = 0;
procedure Tick()
begin
  A: x := x + 1;
     return;
end procedure
begin
  S: call Tick();
  T: call Tick();
  U: x := 0;
end algorithm; *)
====
