---- MODULE while_with_if_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Odd
variables i = 0, odd = 0;
begin
  L: while i < 9 do
    if i % 2 = 1 then
      odd := odd + 1;
    end if;
    i := i + 1;
  end while;
end algorithm; *)
====
