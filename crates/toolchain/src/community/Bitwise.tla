---- MODULE Bitwise ----
LOCAL INSTANCE Integers
LOCAL Combined(x, y, Bit(_, _)) ==
  LET Of[a \in Nat, b \in Nat] ==
        IF a = 0 /\ b = 0 THEN 0 ELSE Bit(a % 2, b % 2) + 2 * Of[a \div 2, b \div 2]
  IN Of[x, y]
x & y == Combined(x, y, LAMBDA a, b : a * b)
x | y == Combined(x, y, LAMBDA a, b : a + b - a * b)
x ^^ y == Combined(x, y, LAMBDA a, b : (a + b) % 2)
Not(a) ==
  LET Of[b \in Nat] == IF b = 0 THEN 0 ELSE 1 - (b % 2) + 2 * Of[b \div 2]
  IN Of[a]
shiftR(n, pos) == n \div (2 ^ pos)
====
