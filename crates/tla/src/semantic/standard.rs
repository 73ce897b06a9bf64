//! The standard modules, as far as a check needs them: names, operands, levels. Each definition has only the level, and
//! the same use of each operand, as the real one; those of [`is_written_out`] also compute the same.

use std::collections::BTreeSet;

use crate::module::Module;

/// The interfaces of the modules that the tools include.
const MODULES: &[(&str, &str)] = &[
    (
        "Naturals",
        "---- MODULE Naturals ----
Nat == {}
a + b == {a, b}
a - b == {a, b}
a * b == TRUE
a ^ b == {a, b}
a < b == a = b
a > b == a = b
a \\leq b == a = b
a \\geq b == a = b
a % b == {a, b}
a \\div b == {a, b}
a .. b == {a, b}
====",
    ),
    (
        "Integers",
        "---- MODULE Integers ----
EXTENDS Naturals
Int == {}
-. a == {a}
====",
    ),
    (
        "Reals",
        "---- MODULE Reals ----
EXTENDS Integers
Real == {}
a / b == {a, b}
Infinity == {}
====",
    ),
    (
        "Sequences",
        "---- MODULE Sequences ----
LOCAL INSTANCE Naturals
Seq(S) == {S}
Len(s) == {s}
s \\o t == {s, t}
Append(s, e) == {s, e}
Head(s) == {s}
Tail(s) == {s}
SubSeq(s, m, n) == {s, m, n}
SelectSeq(s, Test(_)) == {Test(s)}
====",
    ),
    (
        "FiniteSets",
        "---- MODULE FiniteSets ----
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
IsFiniteSet(S) == {S}
Cardinality(S) == {S}
====",
    ),
    (
        "TLC",
        "---- MODULE TLC ----
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets
Print(out, val) == val
PrintT(out) == TRUE
Assert(val, out) == IF val = TRUE THEN TRUE ELSE FALSE
JavaTime == {}
TLCGet(i) == TRUE
TLCSet(i, v) == TRUE
d :> e == [x \\in {d} |-> e]
f @@ g == {f, g}
Permutations(S) == {S}
SortSeq(s, Op(_, _)) ==
  LET Sorted[n \\in 0 .. Len(s)] ==
        IF n = 0 THEN <<>>
        ELSE LET before == Sorted[n - 1]
                 kept == IF n = 1 THEN 0
                         ELSE IF Op(s[n], before[1]) THEN 0
                         ELSE CHOOSE j \\in 1 .. n - 1 :
                                ~Op(s[n], before[j]) /\\ \\A i \\in j + 1 .. n - 1 : Op(s[n], before[i])
             IN [i \\in 1 .. n |-> IF i <= kept THEN before[i] ELSE IF i = kept + 1 THEN s[n] ELSE before[i - 1]]
  IN Sorted[Len(s)]
RandomElement(s) == {s}
Any == {}
ToString(v) == {v}
TLCEval(v) == v
====",
    ),
    (
        "Bags",
        "---- MODULE Bags ----
EXTENDS TLC
LOCAL INSTANCE Naturals
LOCAL SumOf(f) ==
  LET Sum[S \\in SUBSET DOMAIN f] ==
        IF S = {} THEN 0 ELSE LET d == CHOOSE d \\in S : TRUE IN f[d] + Sum[S \\ {d}]
  IN Sum[DOMAIN f]
IsABag(B) == B \\in [DOMAIN B -> {n \\in Nat : n > 0}]
BagToSet(B) == DOMAIN B
SetToBag(S) == [e \\in S |-> 1]
BagIn(e, B) == e \\in DOMAIN B
EmptyBag == SetToBag({})
CopiesIn(e, B) == IF BagIn(e, B) THEN B[e] ELSE 0
a (+) b == [e \\in DOMAIN a \\cup DOMAIN b |-> CopiesIn(e, a) + CopiesIn(e, b)]
a (-) b == [e \\in {d \\in DOMAIN a : a[d] > CopiesIn(d, b)} |-> a[e] - CopiesIn(e, b)]
BagUnion(S) == [e \\in UNION {DOMAIN B : B \\in S} |-> SumOf([B \\in S |-> CopiesIn(e, B)])]
a \\sqsubseteq b == DOMAIN a \\subseteq DOMAIN b /\\ \\A e \\in DOMAIN a : a[e] \\leq b[e]
SubBag(B) ==
  LET Largest == IF B = EmptyBag THEN 0 ELSE CHOOSE n \\in {B[e] : e \\in DOMAIN B} : \\A e \\in DOMAIN B : B[e] \\leq n
  IN {b \\in UNION {[S -> 1 .. Largest] : S \\in SUBSET DOMAIN B} : \\A e \\in DOMAIN b : b[e] \\leq B[e]}
BagOfAll(F(_), B) ==
  [e \\in {F(d) : d \\in DOMAIN B} |-> SumOf([d \\in {x \\in DOMAIN B : F(x) = e} |-> B[d]])]
BagCardinality(B) == SumOf(B)
====",
    ),
    (
        "Randomization",
        "---- MODULE Randomization ----
LOCAL INSTANCE Naturals
LOCAL INSTANCE FiniteSets
RandomSubset(k, S) == {k, S}
RandomSetOfSubsets(k, n, S) == {k, n, S}
TestRandomSetOfSubsets(k, n, S) == {k, n, S}
====",
    ),
    (
        "RealTime",
        "---- MODULE RealTime ----
EXTENDS Reals
VARIABLE now
RTBound(A, v, D, E) == [][A]_v /\\ [](D = E /\\ now = 0)
RTnow(v) == [][UNCHANGED v]_now
====",
    ),
    (
        "Toolbox",
        "---- MODULE Toolbox ----
LOCAL INSTANCE Naturals
LOCAL INSTANCE FiniteSets
LOCAL INSTANCE TLC
_TETrace == {}
_TEPosition == 0
====",
    ),
    (
        "TLCExt",
        "---- MODULE TLCExt ----
LOCAL INSTANCE TLC
LOCAL INSTANCE Integers
AssertEq(a, b) == a = b
AssertError(err, exp) == IF exp THEN Assert(err, err) ELSE TRUE
TLCGetOrDefault(key, defaultVal) == {}
TLCGetAndSet(key, Op(_, _), val, defaultVal) == {Op({}, val)}
Trace == TRUE
CounterExample == TRUE
ToTrace(CE) == TRUE
TLCModelValue(str) == {str}
TLCDefer(expression) == TRUE
TLCNoOp(val) == val
PickSuccessor(exp) == IF exp THEN TRUE ELSE FALSE
TLCCache(expression, closure) == expression
TLCFP(var) == {}
TLCEvalDefinition(definitionName) == TRUE
====",
    ),
    (
        "Json",
        "---- MODULE Json ----
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets
LOCAL INSTANCE TLC
ToJson(value) == {value}
ToJsonArray(value) == {value}
ToJsonObject(value) == {value}
JsonSerialize(absoluteFilename, value) == TRUE
JsonDeserialize(absoluteFilename) == {}
ndJsonSerialize(absoluteFilename, value) == TRUE
ndJsonDeserialize(absoluteFilename) == {}
====",
    ),
];

/// The names that a standard module exports; `None` for any other module.
pub fn exported_names(name: &str) -> Option<BTreeSet<String>> {
    let module = Module::parse(text(name)?).ok()?;
    let exported = module.definitions.iter().filter(|definition| !definition.local);
    let mut names: BTreeSet<String> = exported.map(|definition| definition.name.clone()).collect();
    names.extend(module.variables.iter().map(|variable| variable.name.clone()));
    names.extend(module.extends.iter().filter_map(|extended| exported_names(extended)).flatten());
    Some(names)
}

/// Whether the definition of an operator computes what the real one does, and is not only its interface.
pub(super) fn is_written_out(module: &str, name: &str) -> bool {
    module == "Bags" || matches!((module, name), ("TLC", "SortSeq") | ("TLCExt", "AssertEq"))
}

/// The interface of a standard module.
pub(super) fn text(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}

/// Whether a jar of the tools can include a module of this name.
pub fn is_standard_module(name: &str) -> bool {
    text(name).is_some()
}

/// Whether every jar of the tools includes a module of this name. TLC 2.15 of 2020, which is on PyPI, has no `Json` and no
/// `TLCExt`: they come from `CommunityModules`.
pub fn is_in_every_tools_jar(name: &str) -> bool {
    is_standard_module(name) && !["Json", "TLCExt"].contains(&name)
}

/// Modules that the tools do not include, by publisher: advice for the message that one is missing.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "CommunityModules",
        &[
            "Bitwise",
            "BoundedSequences",
            "Combinatorics",
            "CSV",
            "DifferentialEquations",
            "DyadicRationals",
            "FiniteSetsExt",
            "Folds",
            "Functions",
            "Graphs",
            "GraphViz",
            "HTML",
            "IOUtils",
            "Relation",
            "SequencesExt",
            "ShiViz",
            "Statistics",
            "SVG",
            "UndirectedGraphs",
            "VectorClocks",
            "BagsExt",
            "MapsExt",
        ],
    ),
    (
        "the TLA+ proof system",
        &[
            "TLAPS",
            "FiniteSetTheorems",
            "FunctionTheorems",
            "NaturalsInduction",
            "SequenceTheorems",
            "WellFoundedInduction",
            "BagsTheorems",
            "JectionThm",
            "NaturalsInduction",
        ],
    ),
];

/// The publisher of a module that the tools do not include.
pub(super) fn publisher(name: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(_, modules)| modules.contains(&name)).map(|(publisher, _)| *publisher)
}

/// The standard module to extend for an undefined name.
pub(super) fn module_that_defines(name: &str) -> Option<&'static str> {
    let module = match name {
        "+" | "-" | "*" | "^" | "<" | ">" | "\\leq" | "\\geq" | "%" | "\\div" | ".." | "Nat" => "Naturals",
        "Int" | "-." => "Integers",
        "Real" | "/" => "Reals",
        "Seq" | "Len" | "\\o" | "Append" | "Head" | "Tail" | "SubSeq" | "SelectSeq" => "Sequences",
        "Cardinality" | "IsFiniteSet" => "FiniteSets",
        "Print" | "PrintT" | "Assert" | ":>" | "@@" | "Permutations" | "SortSeq" | "ToString" | "TLCGet" | "TLCSet"
        | "RandomElement" | "TLCEval" => "TLC",
        "EmptyBag" | "SetToBag" | "BagToSet" | "CopiesIn" | "BagIn" | "\\oplus" | "\\ominus" | "BagCardinality" => {
            "Bags"
        }
        _ => return None,
    };
    Some(module)
}
