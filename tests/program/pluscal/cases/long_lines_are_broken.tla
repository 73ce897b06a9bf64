---- MODULE long_lines_are_broken ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm LongLines
variables someCollection = {}, anotherCollection = {}, counterOfThings = 0;
process WorkerWithALongName \in 1..3
variables privateCounterOfThisProcess = 0, privateCollectionOfThisProcess = {};
begin
  FirstStep: someCollection := someCollection \cup {self, counterOfThings, privateCounterOfThisProcess} \cup anotherCollection;
  SecondStep: if counterOfThings > 3 then counterOfThings := 0; privateCollectionOfThisProcess := anotherCollection; else skip; end if;
  ThirdStep: privateCounterOfThisProcess := Cardinality(privateCollectionOfThisProcess) + Cardinality(someCollection) + 1;
end process;
end algorithm; *)
====
