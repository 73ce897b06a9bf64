---- MODULE parameters_renamed_in_expressions ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm RenamedParams
variables log = <<>>, x = 9;
procedure P(v, w) variables t = v;
begin
  A: log := Append(log, [v |-> v, w |-> w, t |-> t]);
  C: v := w || w := v;
  D: t := v + w;
  R: return;
end procedure;
procedure Q(v) variables t = 2;
begin
  A: v := 1;
  E: call P(v, t);
  B: log := Append(log, <<v, t>>);
     return;
end procedure;
begin
  S: call Q(x);
end algorithm; *)
====
