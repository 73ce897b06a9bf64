VARIABLES pc, i

vars == << pc, i >>

Init == (* Global variables *)
        /\ i = 0
        /\ pc = "L"

L == /\ pc = "L"
     /\ i' = i + 1
     /\ pc' = "M"

M == /\ pc = "M"
     /\ i' = i - 1
     /\ pc' = "L"

Next == L \/ M

Spec == Init /\ [][Next]_vars

