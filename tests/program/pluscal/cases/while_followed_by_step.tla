---- MODULE while_followed_by_step ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm After
variable i = 0;
begin
  L: while i < 3 do
    i := i + 1;
  end while;
  i := 100;
  M: i := 0;
end algorithm; *)
====
