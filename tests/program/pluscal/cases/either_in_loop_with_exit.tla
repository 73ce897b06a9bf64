---- MODULE either_in_loop_with_exit ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm MayStop
variables x = 0;
begin
  A: while TRUE do
       either
         x := (x + 1) % 4;
       or
         await x = 3;
         goto Done;
       end either;
     end while;
end algorithm; *)
====
