---- MODULE procedure_call_goto ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm CallThenJump
variables x = 0;
procedure Work(k)
variable local = 1;
begin
  W: x := x + k + local;
     return;
end procedure;
begin
  A: call Work(1);
     goto C;
  B: x := 0;
  C: if x < 3 then goto A; end if;
end algorithm; *)
====
