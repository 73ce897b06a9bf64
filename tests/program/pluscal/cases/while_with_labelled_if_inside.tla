---- MODULE while_with_labelled_if_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm OddSteps
variables i = 0, odd = 0;
begin
  L: while i < 9 do
    if i % 2 = 1 then
      M: odd := odd + 1;
    else
      odd := odd - 1;
    end if;
    N: i := i + 1;
  end while;
end algorithm; *)
====
