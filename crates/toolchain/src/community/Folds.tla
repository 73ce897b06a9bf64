---- MODULE Folds ----
MapThenFoldSet(op(_, _), base, f(_), choose(_), S) ==
  LET Folded[rest \in SUBSET S] ==
        IF rest = {} THEN base
        ELSE LET next == choose(rest) IN op(f(next), Folded[rest \ {next}])
  IN Folded[S]
====
