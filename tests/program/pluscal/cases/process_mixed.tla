---- MODULE process_mixed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Both
variables q = <<>>;
process Reader \in {10, 20}
variable got = 0;
begin
  R: await q # <<>>;
     got := Head(q);
     q := Tail(q);
end process;
process Writer = 0
variables i \in 1..2, sent = FALSE;
begin
  W: while i < 3 do
       q := Append(q, i);
       i := i + 1;
     end while;
     sent := TRUE;
end process;
end algorithm; *)
====
