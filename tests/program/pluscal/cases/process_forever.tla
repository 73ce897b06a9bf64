---- MODULE process_forever ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Servers
variables busy = {};
process S \in {"s1", "s2"}
begin
  Idle: while TRUE do
          await self \notin busy;
          busy := busy \cup {self};
    Work: busy := busy \ {self};
        end while;
end process;
process C = "client"
begin
  Ask: while TRUE do
         either skip; or await busy = {}; end either;
       end while;
end process;
end algorithm; *)
====
