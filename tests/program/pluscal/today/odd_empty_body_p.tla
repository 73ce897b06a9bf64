VARIABLE x

vars == << x >>

Init == (* Global variables *)
        /\ x = 0

Spec == Init /\ [][Next]_vars

