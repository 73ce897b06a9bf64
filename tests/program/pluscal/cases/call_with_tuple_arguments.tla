---- MODULE call_with_tuple_arguments ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm TupleArgs
variables n = <<>>, g = [a |-> <<1, 2>>];
procedure P(t, u, v)
begin
  A: n := Append(t, u) \o v;
     return;
end procedure;
begin
  S: call P(<<1, 2>>, g.a[1], IF n = <<>> THEN <<>> ELSE <<"x", "y">>);
end algorithm; *)
====
