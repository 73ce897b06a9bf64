---- MODULE procedure_recursive_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Factorial
variables result = 1;
procedure Fact(n = 0)
begin
  F: if n > 1 then
       result := result * n;
       call Fact(n - 1);
     end if;
  G: return;
end procedure;
begin
  S: call Fact(4);
end algorithm; *)
====
