---- MODULE Relation ----
EXTENDS Naturals, FiniteSets
LOCAL Table(op(_, _), S) == [p \in S \X S |-> op(p[1], p[2])]
IsReflexive(R, S) == \A x \in S : R[x, x]
IsReflexiveUnder(op(_, _), S) == IsReflexive(Table(op, S), S)
IsIrreflexive(R, S) == \A x \in S : ~R[x, x]
IsIrreflexiveUnder(op(_, _), S) == IsIrreflexive(Table(op, S), S)
IsSymmetric(R, S) == \A x, y \in S : R[x, y] = R[y, x]
IsSymmetricUnder(op(_, _), S) == IsSymmetric(Table(op, S), S)
IsAntiSymmetric(R, S) == \A x, y \in S : R[x, y] /\ R[y, x] => x = y
IsAntiSymmetricUnder(op(_, _), S) == IsAntiSymmetric(Table(op, S), S)
IsAsymmetric(R, S) == \A x, y \in S : R[x, y] => ~R[y, x]
IsAsymmetricUnder(op(_, _), S) == IsAsymmetric(Table(op, S), S)
IsTransitive(R, S) == \A x, y, z \in S : R[x, y] /\ R[y, z] => R[x, z]
IsTransitiveUnder(op(_, _), S) == IsTransitive(Table(op, S), S)
IsStrictlyPartiallyOrdered(R, S) == IsIrreflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsStrictlyPartiallyOrderedUnder(op(_, _), S) == IsStrictlyPartiallyOrdered(Table(op, S), S)
IsPartiallyOrdered(R, S) == IsReflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsPartiallyOrderedUnder(op(_, _), S) == IsPartiallyOrdered(Table(op, S), S)
IsStrictlyTotallyOrdered(R, S) == IsStrictlyPartiallyOrdered(R, S) /\ \A x, y \in S : x = y \/ R[x, y] \/ R[y, x]
IsStrictlyTotallyOrderedUnder(op(_, _), S) == IsStrictlyTotallyOrdered(Table(op, S), S)
IsTotallyOrdered(R, S) == IsPartiallyOrdered(R, S) /\ \A x, y \in S : R[x, y] \/ R[y, x]
IsTotallyOrderedUnder(op(_, _), S) == IsTotallyOrdered(Table(op, S), S)
TransitiveClosure(R, S) ==
  LET Reach[n \in 0 .. Cardinality(S)] ==
        IF n = 0 THEN [x, y \in S |-> R[x, y]]
        ELSE LET before == Reach[n - 1]
             IN [x, y \in S |-> before[x, y] \/ \E z \in S : before[x, z] /\ before[z, y]]
  IN Reach[Cardinality(S)]
ReflexiveTransitiveClosure(R, S) == LET closure == TransitiveClosure(R, S) IN [x, y \in S |-> x = y \/ closure[x, y]]
IsConnected(R, S) == LET closure == ReflexiveTransitiveClosure(R, S) IN \A x, y \in S : closure[x, y]
====
