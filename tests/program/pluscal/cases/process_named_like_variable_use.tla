---- MODULE process_named_like_variable_use ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Names
variables turn = 1;
process proc \in {1, 2}
variable other = 3 - self;
begin
  ncs: while TRUE do
         skip;
    enter: turn := other;
    wait: await turn = self;
    cs: skip;
       end while;
end process
end algorithm *)
====
