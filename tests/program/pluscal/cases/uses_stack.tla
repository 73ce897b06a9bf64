---- MODULE uses_stack ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WatchesStack
variables depth = 0;
procedure P(n)
begin
  A: depth := Len(stack);
     if n > 0 then call P(n - 1); end if;
  B: return;
end procedure;
begin
  S: call P(2);
end algorithm; *)
====
