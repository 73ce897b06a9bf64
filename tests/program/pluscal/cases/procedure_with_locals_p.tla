---- MODULE procedure_with_locals_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Locals
variables out = 0;
procedure Mul(a, b)
variables i = 0, acc = 0;
begin
  L: while i < a do
       acc := acc + b;
       i := i + 1;
     end while;
     out := acc;
     return;
end procedure;
begin
  S: call Mul(2, 3);
end algorithm; *)
====
