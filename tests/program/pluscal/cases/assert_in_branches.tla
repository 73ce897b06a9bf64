---- MODULE assert_in_branches ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm ClaimsThere
variables x \in 0..1;
begin
  A: if x = 0 then assert x < 1; else assert x > 0; x := 0; end if;
  B: either assert TRUE; or assert x = 0; end either;
end algorithm; *)
====
