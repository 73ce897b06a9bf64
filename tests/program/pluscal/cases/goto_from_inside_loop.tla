---- MODULE goto_from_inside_loop ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Leaves
variables i = 0;
begin
  L: while i < 9 do
       i := i + 1;
       if i = 5 then
         goto Out;
       elsif i = 6 then
         goto L;
       end if;
     end while;
  Mid: i := 100;
  Out: skip;
end algorithm; *)
====
