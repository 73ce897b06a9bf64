---- MODULE end_of_file_in_the_middle ----
EXTENDS Naturals
(* --algorithm B
variables x = 0;
begin
  A: x :=
