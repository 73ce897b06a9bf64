---- MODULE automatic_labels_with_procedure ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm NoLabelsCall
variables x = 0;
procedure P(a)
begin
  x := a;
  x := a + 1;
  return;
end procedure;
begin
  call P(1);
  x := 5;
  if x = 5 then call P(2); else x := 6; end if;
  x := 7;
end algorithm; *)
====
