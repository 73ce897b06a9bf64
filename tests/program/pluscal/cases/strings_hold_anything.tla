---- MODULE strings_hold_anything ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Texts
variables s = "a := b; (c) { d }", t = "while \" do", u = "--algorithm";
begin
  A: s := "goto Done";
     t := s;
  B: print "end algorithm";
end algorithm; *)
====
