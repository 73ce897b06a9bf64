This text stands before the module and mentions --nothing.
---------------- MODULE module_with_prose_around ----------------
EXTENDS Naturals
CONSTANT N
ASSUME N \in Nat
(***************************************************************************
--algorithm Boxed
variables x = 0;
begin
  A: while x < N do
       x := x + 1;
     end while;
end algorithm
 ***************************************************************************)
----------------------------------------------------------------
Inv == x <= N
=================================================================
Text behind the module.
