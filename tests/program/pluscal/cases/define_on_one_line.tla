---- MODULE define_on_one_line ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Short
variable x = 0;
define Twice == 2 * x end define
begin
  Go: x := Twice;
end algorithm; *)
====
