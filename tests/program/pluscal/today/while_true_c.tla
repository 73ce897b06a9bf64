VARIABLE i

vars == << i >>

Init == (* Global variables *)
        /\ i = 0

Next == i' = (i + 1) % 3

Spec == Init /\ [][Next]_vars

