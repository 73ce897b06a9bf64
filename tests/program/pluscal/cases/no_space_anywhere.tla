---- MODULE no_space_anywhere ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(*--algorithm Tight{variables x=0;f=[i\in 1..2|->0];{A:x:=x+1;f[1]:=x;B:if(x=1)x:=2;else{x:=3};C:while(x<4){x:=x+1}}}*)
====
