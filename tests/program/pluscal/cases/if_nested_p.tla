---- MODULE if_nested_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Deep
variables a \in BOOLEAN, b \in BOOLEAN, c \in BOOLEAN, n = 0;
begin
  A: if a then
       if b then
         if c then n := 7; else n := 6; end if;
       else
         n := 5;
       end if;
     elsif b then
       n := 3;
     end if;
end algorithm; *)
====
