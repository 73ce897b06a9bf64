---- MODULE BagsExt ----
LOCAL INSTANCE Integers
BagAdd(B, x) == [e \in DOMAIN B \cup {x} |-> (IF e \in DOMAIN B THEN B[e] ELSE 0) + (IF e = x THEN 1 ELSE 0)]
BagRemove(B, x) ==
  [e \in {d \in DOMAIN B : d # x \/ B[d] > 1} |-> IF e = x THEN B[e] - 1 ELSE B[e]]
BagRemoveAll(B, x) == [e \in DOMAIN B \ {x} |-> B[e]]
LOCAL Any(S) == CHOOSE x \in S : TRUE
MapThenFoldBag(op(_, _), base, f(_), choose(_), B) ==
  LET RECURSIVE Folded(_, _)
      Folded(rest, done) ==
        IF rest = {} THEN done ELSE LET copy == Any(rest) IN Folded(rest \ {copy}, op(done, f(copy[1])))
  IN Folded(UNION {{<<e, n>> : n \in 1 .. B[e]} : e \in DOMAIN B}, base)
FoldBag(op(_, _), base, B) == MapThenFoldBag(op, base, LAMBDA x : x, Any, B)
SumBag(B) == FoldBag(LAMBDA x, y : x + y, 0, B)
ProductBag(B) == FoldBag(LAMBDA x, y : x * y, 1, B)
====
