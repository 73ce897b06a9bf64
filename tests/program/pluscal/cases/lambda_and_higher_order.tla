---- MODULE lambda_and_higher_order ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Higher
variables s = <<1, 2, 3>>;
begin
  A: s := SelectSeq(s, LAMBDA e : e > 1);
  B: s := [s EXCEPT ![1] = LET Id(a) == a IN Id(@)];
end algorithm; *)
====
