---- MODULE assignment_twice_through_branch ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0, y = 0;
begin
  A: if y = 0 then x := 1; end if;
     x := 2;
end algorithm; *)
====
