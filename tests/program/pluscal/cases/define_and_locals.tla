---- MODULE define_and_locals ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WithLocals
variables shared = 0, other \in {1, 2};
define
  Small == shared < 10
end define;
process Worker \in 1..2
variables mine = 0;
begin
  Work: mine := shared;
  Give: shared := mine + 1;
end process;
end algorithm; *)
====
