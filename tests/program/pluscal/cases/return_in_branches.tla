---- MODULE return_in_branches ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm EarlyReturn
variables x = 0;
procedure P(a)
variables loc = 0;
begin
  P1: if a = 0 then
        return;
      elsif a = 1 then
        x := 1;
        return;
      else
        loc := a;
      end if;
  P2: either
        await loc > 2;
        return;
      or
        x := loc;
      end either;
  P3: return;
end procedure;
process Q \in 1..2
begin
  Q1: call P(self);
end process;
end algorithm; *)
====
