---- MODULE while_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Loop
variable i = 0;
begin
  L: while i < 5 do
    i := i + 1;
  end while;
end algorithm; *)
====
