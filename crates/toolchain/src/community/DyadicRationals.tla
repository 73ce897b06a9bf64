---- MODULE DyadicRationals ----
LOCAL INSTANCE Integers
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC
LOCAL Fraction(num, den) == [num |-> num, den |-> den]
LOCAL Reduced(p) ==
  LET Of[num \in Int, den \in Nat] ==
        IF den > 1 /\ den % 2 = 0 /\ num % 2 = 0 THEN Of[num \div 2, den \div 2] ELSE Fraction(num, den)
  IN Of[p.num, p.den]
IsDyadicRational(r) == \E i \in 0 .. r.den : 2 ^ i = r.den
Zero == Fraction(0, 1)
One == Fraction(1, 1)
Add(p, q) ==
  LET den == IF p.den >= q.den THEN p.den ELSE q.den
  IN IF p = Zero THEN q ELSE Reduced(Fraction(p.num * (den \div p.den) + q.num * (den \div q.den), den))
Half(p) == Reduced(Fraction(p.num, 2 * p.den))
PrettyPrint(p) ==
  IF p = Zero THEN "0" ELSE IF p = One THEN "1" ELSE ToString(p.num) \o "/" \o ToString(p.den)
====
