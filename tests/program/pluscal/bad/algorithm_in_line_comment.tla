---- MODULE algorithm_in_line_comment ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* --algorithm B
\* variables x = 0;
\* begin
\*   A: x := 1;
\* end algorithm;
====
