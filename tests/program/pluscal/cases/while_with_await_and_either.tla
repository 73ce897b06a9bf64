---- MODULE while_with_await_and_either ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --fair algorithm Buffer {
  variables buf = <<>>; made = 0; used = 0;
  process (Producer = "p") {
    P: while (made < 3) {
         await Len(buf) < 2;
         made := made + 1;
         buf := Append(buf, made);
       }
  }
  process (Consumer \in {"c1", "c2"})
    variables got = 0;
  {
    C: while (TRUE) {
         await buf # <<>>;
         either { got := Head(buf); buf := Tail(buf); used := used + 1; }
         or { skip; };
       }
  }
} *)
====
