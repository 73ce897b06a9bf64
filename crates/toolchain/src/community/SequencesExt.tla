---- MODULE SequencesExt ----
EXTENDS Sequences, Naturals, FiniteSets, FiniteSetsExt, Folds, Functions, Bags, TLC
ToSet(s) == {s[i] : i \in DOMAIN s}
ToBag(s) == [e \in ToSet(s) |-> Cardinality({i \in DOMAIN s : s[i] = e})]
SetToSeqs(S) == {f \in [1 .. Cardinality(S) -> S] : IsInjective(f)}
SetToSeq(S) ==
  LET Of[T \in SUBSET S] == IF T = {} THEN <<>> ELSE LET e == CHOOSE e \in T : TRUE IN <<e>> \o Of[T \ {e}]
  IN Of[S]
SetToSortSeq(S, op(_, _)) == SortSeq(SetToSeq(S), op)
SetToAllKPermutations(S) == UNION {SetToSeqs(T) : T \in SUBSET S}
TupleOf(set, n) == [1 .. n -> set]
SeqOf(set, n) == UNION {TupleOf(set, m) : m \in 0 .. n}
BoundedSeq(S, n) == SeqOf(S, n)
Contains(s, e) == \E i \in 1 .. Len(s) : s[i] = e
IsSorted(s, op(_, _)) == \A i, j \in 1 .. Len(s) : i < j => op(s[i], s[j])
Reverse(s) == [i \in 1 .. Len(s) |-> s[Len(s) + 1 - i]]
Remove(s, e) == SelectSeq(s, LAMBDA x : x # e)
ReplaceAll(s, old, new) == [i \in 1 .. Len(s) |-> IF s[i] = old THEN new ELSE s[i]]
LOCAL Matches(s, Test(_)) == {i \in 1 .. Len(s) : Test(s[i])}
SelectInSeq(seq, Test(_)) == LET found == Matches(seq, Test) IN IF found = {} THEN 0 ELSE Min(found)
LOCAL Shifted(i, from) == IF i = 0 THEN 0 ELSE i + from - 1
SelectInSubSeq(seq, from, to, Test(_)) == Shifted(SelectInSeq(SubSeq(seq, from, to), Test), from)
SelectLastInSeq(seq, Test(_)) == LET found == Matches(seq, Test) IN IF found = {} THEN 0 ELSE Max(found)
SelectLastInSubSeq(seq, from, to, Test(_)) == Shifted(SelectLastInSeq(SubSeq(seq, from, to), Test), from)
InsertAt(s, i, e) == SubSeq(s, 1, i - 1) \o <<e>> \o SubSeq(s, i, Len(s))
ReplaceAt(s, i, e) == [s EXCEPT ![i] = e]
RemoveAt(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
RemoveFirstMatch(s, Test(_)) == LET i == SelectInSeq(s, Test) IN IF i = 0 THEN s ELSE RemoveAt(s, i)
RemoveFirst(s, e) == RemoveFirstMatch(s, LAMBDA x : x = e)
Cons(elt, seq) == <<elt>> \o seq
Snoc(elt, seq) == Append(seq, elt)
Front(s) == SubSeq(s, 1, Len(s) - 1)
Last(s) == s[Len(s)]
IsPrefix(s, t) == Len(s) <= Len(t) /\ \A i \in 1 .. Len(s) : s[i] = t[i]
IsStrictPrefix(s, t) == Len(s) < Len(t) /\ IsPrefix(s, t)
IsSuffix(s, t) == Len(s) <= Len(t) /\ \A i \in 1 .. Len(s) : s[i] = t[Len(t) - Len(s) + i]
IsStrictSuffix(s, t) == Len(s) < Len(t) /\ IsSuffix(s, t)
Prefixes(s) == {SubSeq(s, 1, n) : n \in 0 .. Len(s)}
Suffixes(s) == {SubSeq(s, n, Len(s)) : n \in 1 .. Len(s) + 1}
CommonPrefixes(S) == {p \in UNION {Prefixes(s) : s \in S} : \A s \in S : IsPrefix(p, s)}
LongestCommonPrefix(S) == CHOOSE p \in CommonPrefixes(S) : \A q \in CommonPrefixes(S) : Len(q) <= Len(p)
SeqMod(a, b) == IF a % b = 0 THEN b ELSE a % b
FoldSeq(op(_, _), base, seq) == FoldFunction(op, base, seq)
FoldLeft(op(_, _), base, seq) ==
  LET Folded[n \in 0 .. Len(seq)] == IF n = 0 THEN base ELSE op(Folded[n - 1], seq[n])
  IN Folded[Len(seq)]
FoldRight(op(_, _), seq, base) ==
  LET Folded[n \in 1 .. Len(seq) + 1] == IF n > Len(seq) THEN base ELSE op(seq[n], Folded[n + 1])
  IN Folded[1]
FoldLeftDomain(op(_, _), base, seq) == FoldLeft(op, base, [i \in 1 .. Len(seq) |-> i])
FoldRightDomain(op(_, _), seq, base) == FoldRight(op, [i \in 1 .. Len(seq) |-> i], base)
FlattenSeq(seqs) == FoldLeft(LAMBDA s, t : s \o t, <<>>, seqs)
Zip(s, t) == [i \in 1 .. (IF Len(s) <= Len(t) THEN Len(s) ELSE Len(t)) |-> <<s[i], t[i]>>]
Interleave(s, t) ==
  CASE Len(s) = Len(t) /\ s = <<>> -> <<<<>>, <<>>>>
    [] Len(s) = Len(t) /\ s # <<>> -> [i \in 1 .. 2 * Len(s) |-> <<IF i % 2 = 1 THEN s[(i + 1) \div 2] ELSE t[i \div 2]>>]
SubSeqs(s) == {SubSeq(s, i + 1, j) : i, j \in 0 .. Len(s)}
AllSubSeqs(s) ==
  LET At(D) == FoldLeft(LAMBDA t, i : IF i \in D THEN Append(t, s[i]) ELSE t, <<>>, [i \in 1 .. Len(s) |-> i])
  IN {At(D) : D \in SUBSET DOMAIN s}
LOCAL OccursAt(s, t, i) == \A k \in 1 .. Len(s) : s[k] = t[i + k - 1]
IndexFirstSubSeq(s, t) == Min({i \in 1 .. Len(t) + 1 - Len(s) : OccursAt(s, t, i)})
ReplaceSubSeqAt(i, r, s, t) == SubSeq(t, 1, i - 1) \o r \o SubSeq(t, i + Len(s), Len(t))
ReplaceFirstSubSeq(r, s, t) == IF s \in SubSeqs(t) THEN ReplaceSubSeqAt(IndexFirstSubSeq(s, t), r, s, t) ELSE t
ReplaceAllSubSeqs(r, s, t) ==
  IF s = <<>>
  THEN IF t = <<>> THEN r ELSE FoldLeft(LAMBDA done, e : done \o r \o <<e>>, <<>>, t)
  ELSE LET Replaced[i \in 1 .. Len(t) + 1] ==
             IF i > Len(t) THEN <<>>
             ELSE IF i + Len(s) - 1 <= Len(t) /\ OccursAt(s, t, i) THEN r \o Replaced[i + Len(s)]
             ELSE <<t[i]>> \o Replaced[i + 1]
       IN Replaced[1]
====
