---- MODULE while_after_assignment_in_branch ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm LoopInBranch
variables x = 0, i = 0;
begin
  A: if x = 0 then
       x := 1;
       B: while i < 2 do
            i := i + 1;
          end while;
     else
       C: while i < 3 do
            i := i + 1;
            D: x := x + 1;
          end while;
     end if;
  E: either F: while i < 9 do i := i + 1; end while; or skip; end either;
end algorithm; *)
====
