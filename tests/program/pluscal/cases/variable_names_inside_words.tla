---- MODULE variable_names_inside_words ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Words
variables i = 0, ii = 0, i2 = 0;
process P \in 1..2
variables j = 0, jj = [j |-> 0];
begin
  A: i := ii + i2;
     j := i;
  B: jj := [j |-> j, jj |-> jj.j];
     ii := jj.j + j;
end process;
end algorithm; *)
====
