---- MODULE FiniteSetsExt ----
EXTENDS Integers, FiniteSets, Folds, Functions
LOCAL Any(S) == CHOOSE x \in S : TRUE
FoldSet(op(_, _), base, set) == MapThenFoldSet(op, base, LAMBDA x : x, Any, set)
ReduceSet(op(_, _), set, acc) == FoldSet(op, acc, set)
MapThenSumSet(op(_), set) == MapThenFoldSet(LAMBDA x, y : x + y, 0, op, Any, set)
SumSet(set) == MapThenSumSet(LAMBDA x : x, set)
ProductSet(set) == FoldSet(LAMBDA x, y : x * y, 1, set)
FlattenSet(S) == UNION S
SymDiff(A, B) == (A \cup B) \ (A \cap B)
Quantify(S, P(_)) == Cardinality({x \in S : P(x)})
kSubset(k, S) ==
  LET Size == Cardinality(S)
      Of[n \in 0 .. Size] ==
        IF n = 0 THEN {{}} ELSE {T \in {R \cup {x} : R \in Of[n - 1], x \in S} : Cardinality(T) = n}
  IN IF k \notin 0 .. Size THEN {}
     ELSE IF 2 * k <= Size THEN Of[k]
     ELSE {S \ T : T \in Of[Size - k]}
Max(S) == CHOOSE x \in S : \A y \in S : y =< x
Min(S) == CHOOSE x \in S : \A y \in S : x =< y
Choices(Sets) == {Range(f) : f \in {g \in [Sets -> UNION Sets] : \A S \in Sets : g[S] \in S}}
ChooseUnique(S, P(_)) == CHOOSE x \in S : P(x) /\ \A y \in S : P(y) => x = y
====
