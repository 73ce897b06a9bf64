---- MODULE procedure_mutual ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm PingPong
variables n = 3;
procedure Ping(p)
begin
  P1: if p > 0 then call Pong(p - 1); return; end if;
  P2: return;
end procedure;
procedure Pong(q)
begin
  Q1: n := q;
      call Ping(q);
      return;
end procedure;
begin
  Main: call Ping(n);
end algorithm; *)
====
