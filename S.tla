---- MODULE S ----
EXTENDS Naturals, TLC
VARIABLES x, y
A == x < 3 /\ x' = x + 1 /\ UNCHANGED y
B == y < 2 /\ y' = y + 1 /\ UNCHANGED x
Next == A \/ B
Spec == x = 0 /\ y = 0 /\ [][Next]_<<x,y>>
P == [][x' # 2]_x
L == []<>(x = 2)
I == x # 2
====
