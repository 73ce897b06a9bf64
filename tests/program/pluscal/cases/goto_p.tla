---- MODULE goto_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Jumps
variable x = 0;
begin
  A: x := x + 1;
     goto C;
  B: x := 10;
     goto Done;
  C: if x < 2 then goto A; else goto B; end if;
end algorithm; *)
====
