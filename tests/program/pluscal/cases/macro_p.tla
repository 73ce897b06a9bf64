---- MODULE macro_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Macros
variables x = 0, sem = 1;
macro Take(s) begin
  await s > 0;
  s := s - 1;
end macro;
macro Give(s) begin s := s + 1; end macro;
macro Set(v, e) begin v := e; end macro
begin
  A: Take(sem);
     Set(x, x + 1);
  B: Give(sem);
end algorithm; *)
====
