---- MODULE procedure_in_fair_process ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm FairCalls
variables x = 0;
procedure Up(k)
begin
  U1:- x := x + k;
  U2:+ return;
end procedure;
fair process P = "p"
begin
  P1: call Up(1);
end process;
fair+ process Q \in {"q", "r"}
begin
  Q1: call Up(2);
end process;
process R = "none"
begin
  R1: call Up(3);
end process;
end algorithm; *)
====
