---- MODULE Functions ----
EXTENDS Integers, Folds
LOCAL Any(S) == CHOOSE x \in S : TRUE
Restrict(f, S) == [x \in S |-> f[x]]
RestrictDomain(f, Test(_)) == [x \in {y \in DOMAIN f : Test(y)} |-> f[x]]
RestrictValues(f, Test(_)) == [x \in {y \in DOMAIN f : Test(f[y])} |-> f[x]]
IsRestriction(narrow, wide) ==
  DOMAIN narrow \subseteq DOMAIN wide /\ \A x \in DOMAIN narrow : narrow[x] = wide[x]
Range(f) == {f[x] : x \in DOMAIN f}
Pointwise(f, g, T(_, _)) == [x \in DOMAIN f |-> T(f[x], g[x])]
Inverse(f, S, T) == [t \in T |-> CHOOSE s \in S : t \in Range(f) => f[s] = t]
AntiFunction(f) == Inverse(f, DOMAIN f, Range(f))
IsInjective(f) == \A x, y \in DOMAIN f : f[x] = f[y] => x = y
Injection(S, T) == {f \in [S -> T] : IsInjective(f)}
Surjection(S, T) == {f \in [S -> T] : T \subseteq Range(f)}
Bijection(S, T) == {f \in Injection(S, T) : T \subseteq Range(f)}
ExistsInjection(S, T) == \E f \in [S -> T] : IsInjective(f)
ExistsSurjection(S, T) == \E f \in [S -> T] : T \subseteq Range(f)
ExistsBijection(S, T) == \E f \in [S -> T] : IsInjective(f) /\ T \subseteq Range(f)
FoldFunctionOnSet(op(_, _), base, fun, indices) == MapThenFoldSet(op, base, LAMBDA x : fun[x], Any, indices)
FoldFunction(op(_, _), base, fun) == FoldFunctionOnSet(op, base, fun, DOMAIN fun)
SumFunctionOnSet(fun, indices) == FoldFunctionOnSet(LAMBDA x, y : x + y, 0, fun, indices)
SumFunction(fun) == SumFunctionOnSet(fun, DOMAIN fun)
====
