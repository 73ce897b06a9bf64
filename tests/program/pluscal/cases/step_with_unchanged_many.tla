---- MODULE step_with_unchanged_many ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Many
variables a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = 0, k = 0,
  someLongName1 = 0, someLongName2 = 0, someLongName3 = 0, someLongName4 = 0, someLongName5 = 0;
begin
  A: if a = 0 then b := 1; elsif a = 1 then c := 1; d := 1; else e := 1; end if;
  B: either f := 1; or g := 1; or h := 1; i := 1; end either;
  C: k := j;
end algorithm; *)
====
