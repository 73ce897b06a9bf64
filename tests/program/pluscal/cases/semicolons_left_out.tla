---- MODULE semicolons_left_out ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Sparse
variables x = 0
begin
  A: x := 1;
  B: if x = 1 then x := 2 else x := 3 end if;
  C: while x < 9 do x := x + 1 end while
end algorithm *)
====
