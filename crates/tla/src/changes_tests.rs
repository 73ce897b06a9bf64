//! Applying changes to the old value gives the new one, and no change is superfluous.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::changes::{Change, Difference, changes};
use super::outcome::Step;

fn step(value: &str) -> Step {
    let state: BTreeMap<String, String> = [("v".to_owned(), value.to_owned())].into();
    Step {
        step: 1,
        action: None,
        branch: None,
        arguments: None,
        process: None,
        source: None,
        state,
        changed: vec!["v".to_owned()],
        false_conjuncts: Vec::new(),
    }
}

/// The changes of `v`, one text each.
fn listed(before: &str, after: &str) -> Vec<String> {
    let line = |Change { path, difference }: Change| match difference {
        Difference::Replaced { before, after } => format!("{path}: {before} -> {after}"),
        Difference::Added { value } => format!("{path}: + {value}"),
        Difference::Removed { value } => format!("{path}: - {value}"),
    };
    changes(&step(before), &step(after)).into_iter().map(line).collect()
}

#[test]
fn each_kind_of_value_is_compared_by_its_parts() {
    for (before, after, expected) in [
        ("{1, 2}", "{2, 3}", &["v: - 1", "v: + 3"] as &[_]),
        ("{}", "{{}}", &["v: + {}"]),
        ("1..3", "{1, 3}", &["v: - 2"]),
        ("{1, 2}", "{ 2,\n  1 }", &[]),
        ("(a :> 1 @@ b :> 2)", "(b :> 3 @@ a :> 1)", &["v[b]: 2 -> 3"]),
        ("(a :> 1 @@ b :> 2)", "(a :> 1 @@ c :> 2)", &["v[b]: - 2", "v[c]: + 2"]),
        ("({a, b} :> 1 @@ c :> {2})", "({b, a} :> 4 @@ c :> {})", &["v[{a, b}]: 1 -> 4", "v[c]: - 2"]),
        ("<<>>", "(a :> 1)", &["v[a]: + 1"]),
        ("<<\"x\">>", "(1 :> \"y\" @@ 5 :> \"x\")", &["v[1]: \"x\" -> \"y\"", "v[5]: + \"x\""]),
        (
            "[type |-> \"none\", to |-> 0]",
            "[type |-> \"ask\", from |-> 1, to |-> 0]",
            &["v.type: \"none\" -> \"ask\"", "v.from: + 1"],
        ),
        ("[x |-> 1]", "(x :> 1)", &["v: [x |-> 1] -> (x :> 1)"]),
        (
            "(a :> [x |-> 1, y |-> (p :> <<1, 2>> @@ q :> <<2>>)])",
            "(a :> [x |-> 1, y |-> (p :> <<1, 5>> @@ q :> <<2>>)])",
            &["v.y[p][2]: 2 -> 5"],
        ),
        ("TRUE", "FALSE", &["v: TRUE -> FALSE"]),
        ("(a :> 1", "(a :> 2", &["v: (a :> 1 -> (a :> 2"]),
        ("(a :> 1 @@ a :> 2)", "(a :> 1 @@ a :> 3)", &["v: (a :> 1 @@ a :> 2) -> (a :> 1 @@ a :> 3)"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|line| line.replace("v.y", "v[a].y")).collect();
        assert_eq!(listed(before, after), expected, "{before} {after}");
    }
}

#[test]
fn entries_of_a_sequence_that_only_move_are_no_change() {
    for (before, after, expected) in [
        ("<<7, 8, 9>>", "<<8, 9>>", &["v[1]: - 7"] as &[_]),
        ("<<7, 8, 9>>", "<<7, 8>>", &["v[3]: - 9"]),
        ("<<7, 8>>", "<<7, 8, 9>>", &["v[3]: + 9"]),
        ("<<7, 8>>", "<<9, 7, 8>>", &["v[1]: + 9"]),
        ("<<7, 8, 9>>", "<<8, 9, 7>>", &["v[1]: - 7", "v[3]: + 7"]),
        ("<<7, 8, 9>>", "<<7, 9, 9>>", &["v[2]: 8 -> 9"]),
        ("<<1, 0>>", "<<0, 1>>", &["v[1]: 1 -> 0", "v[2]: 0 -> 1"]),
        ("<<[x |-> 1], 2>>", "<<[x |-> 3], 2, 4>>", &["v[1].x: 1 -> 3", "v[3]: + 4"]),
        ("<<{1}, {2}>>", "<<{1}, {2, 3}>>", &["v[2]: + 3"]),
        ("<<{1}, {2}>>", "<<{5}, {2}, {3}>>", &["v[1]: {1} -> {5}", "v[3]: + {3}"]),
        ("<<>>", "<<1>>", &["v[1]: + 1"]),
    ] {
        assert_eq!(listed(before, after), expected, "{before} {after}");
    }
    let long =
        |first: usize| format!("<<{}>>", (first..first + 3_000).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    assert!(!listed(&long(0), &long(5_000)).is_empty());
}

#[test]
fn a_variable_that_only_one_state_has_is_added_or_removed() {
    let empty = Step { state: BTreeMap::new(), ..step("") };
    let added = Change { path: "v".to_owned(), difference: Difference::Added { value: "1".to_owned() } };
    assert_eq!(changes(&empty, &step("1")), [added]);
    let removed = Change { path: "v".to_owned(), difference: Difference::Removed { value: "1".to_owned() } };
    assert_eq!(changes(&step("1"), &empty), [removed]);
}

#[test]
fn a_value_that_is_nested_too_deep_is_compared_as_text() {
    let deep = |inner: &str| format!("{}{inner}{}", "{".repeat(40_000), "}".repeat(40_000));
    assert_eq!(listed(&deep("1"), &deep("2")).len(), 2);
    assert_eq!(listed(&deep("1"), &deep("1")), Vec::<String>::new());
}

/// A value apart from its text, for an oracle that does not read TLA+.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Atom(String),
    Set(Vec<Value>),
    Sequence(Vec<Value>),
    Function(BTreeMap<String, Value>),
    Record(BTreeMap<String, Value>),
}

impl Value {
    fn text(&self) -> String {
        let list = |parts: &[Self]| parts.iter().map(Self::text).collect::<Vec<_>>().join(", ");
        let pairs = |map: &BTreeMap<String, Self>, sign: &str, between: &str| {
            map.iter().map(|(key, value)| format!("{key} {sign} {}", value.text())).collect::<Vec<_>>().join(between)
        };
        match self {
            Self::Atom(text) => text.clone(),
            Self::Set(parts) => format!("{{{}}}", list(parts)),
            Self::Sequence(parts) => format!("<<{}>>", list(parts)),
            Self::Function(map) => format!("({})", pairs(map, ":>", " @@ ")),
            Self::Record(map) => format!("[{}]", pairs(map, "|->", ", ")),
        }
    }

    /// This value and all its parts, by their texts.
    fn collect(&self, parts: &mut BTreeMap<String, Self>) {
        parts.insert(self.text(), self.clone());
        match self {
            Self::Atom(_) => {}
            Self::Set(inner) | Self::Sequence(inner) => inner.iter().for_each(|value| value.collect(parts)),
            Self::Function(map) | Self::Record(map) => map.values().for_each(|value| value.collect(parts)),
        }
    }

    fn normal(self) -> Self {
        match self {
            Self::Set(mut parts) => {
                parts.sort();
                parts.dedup();
                Self::Set(parts)
            }
            Self::Function(map) | Self::Record(map) if map.is_empty() => Self::Sequence(Vec::new()),
            Self::Function(map) if (1..=map.len()).all(|at| map.contains_key(&at.to_string())) => {
                Self::Sequence(map.into_values().collect())
            }
            other => other,
        }
    }

    /// The value after the changes at `path` and below it.
    fn apply(&self, path: &str, changes: &[Change], parts: &BTreeMap<String, Self>) -> Self {
        let at = |path: &str| {
            let here: Vec<_> = changes.iter().filter(|change| change.path == path).collect();
            here.into_iter().map(|change| &change.difference)
        };
        if let Some(Difference::Replaced { after, .. }) = at(path).next() {
            return parts[after].clone();
        }
        let entry = |path: &str, old: Option<&Self>| match (old, at(path).next()) {
            (None, Some(Difference::Added { value })) => Some(parts[value].clone()),
            (None, _) => None,
            (Some(old), Some(Difference::Removed { value })) if *value == old.text() => None,
            (Some(old), _) => Some(old.apply(path, changes, parts)),
        };
        let keyed = |map: &BTreeMap<String, Self>, suffix: &dyn Fn(&str) -> String| {
            let keys = ["a", "b", "c", "d", "1", "2", "3", "4", "5"].into_iter();
            keys.filter_map(|key| Some((key.to_owned(), entry(&format!("{path}{}", suffix(key)), map.get(key))?)))
                .collect::<BTreeMap<_, _>>()
        };
        let (by_key, by_field) = (|key: &str| format!("[{key}]"), |key: &str| format!(".{key}"));
        let none = BTreeMap::new();
        let new = match self {
            Self::Atom(_) => self.clone(),
            Self::Set(old) => {
                let mut new = old.clone();
                for difference in at(path) {
                    match difference {
                        Difference::Removed { value } => new.retain(|element| element.text() != *value),
                        Difference::Added { value } => new.push(parts[value].clone()),
                        Difference::Replaced { .. } => {}
                    }
                }
                Self::Set(new)
            }
            // Its domain is not `1..n` any more.
            Self::Sequence(old) if ["a", "b", "c", "d"].iter().any(|key| at(&format!("{path}[{key}]")).len() > 0) => {
                let old = old.iter().enumerate().map(|(at, value)| ((at + 1).to_string(), value.clone()));
                Self::Function(keyed(&old.collect(), &by_key))
            }
            Self::Sequence(old) if old.is_empty() && !keyed(&none, &by_field).is_empty() => {
                Self::Record(keyed(&none, &by_field))
            }
            Self::Sequence(old) => {
                let path_at = |at: usize| format!("{path}[{}]", at + 1);
                let is_removed = |index: usize| at(&path_at(index)).any(|d| matches!(d, Difference::Removed { .. }));
                let kept = old.iter().enumerate().filter(|(at, _)| !is_removed(*at));
                let mut new: Vec<Self> = kept.map(|(_, value)| value.clone()).collect();
                for index in 0..20 {
                    for difference in at(&path_at(index)) {
                        if let Difference::Added { value } = difference {
                            new.insert(index.min(new.len()), parts[value].clone());
                        }
                    }
                }
                let is_added = |index: usize| at(&path_at(index)).any(|d| matches!(d, Difference::Added { .. }));
                let nested = new.iter().enumerate().map(|(index, value)| {
                    if is_added(index) {
                        value.clone()
                    } else {
                        value.apply(&path_at(index), &without_removed(changes, &path_at(index)), parts)
                    }
                });
                Self::Sequence(nested.collect())
            }
            Self::Function(old) => Self::Function(keyed(old, &by_key)),
            Self::Record(old) => Self::Record(keyed(old, &by_field)),
        };
        new.normal()
    }
}

/// Removals name old indices, so they say nothing about the entry that has this index now.
fn without_removed(changes: &[Change], path: &str) -> Vec<Change> {
    let is_removal = |change: &&Change| change.path == path && matches!(change.difference, Difference::Removed { .. });
    changes.iter().filter(|change| !is_removal(change)).cloned().collect()
}

fn value() -> impl Strategy<Value = Value> {
    let atom = prop_oneof![
        (0..4).prop_map(|number: i32| Value::Atom(number.to_string())),
        prop::sample::select(vec!["\"a, b\"", "\"{\"", "TRUE", "m1"]).prop_map(|text| Value::Atom(text.to_owned())),
    ];
    atom.prop_recursive(3, 30, 4, |inner| {
        let keys = || prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned);
        let no_set = inner
            .clone()
            .prop_filter("sets in sequences have examples of their own", |value| !matches!(value, Value::Set(_)));
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Set),
            prop::collection::vec(no_set, 0..5).prop_map(Value::Sequence),
            prop::collection::btree_map(keys(), inner.clone(), 0..4).prop_map(Value::Function),
            prop::collection::btree_map(keys(), inner, 0..4).prop_map(Value::Record),
        ]
        .prop_map(Value::normal)
    })
}

/// A value and a relative of it: the other one, or one that shares parts with it.
fn pair() -> impl Strategy<Value = (Value, Value)> {
    (value(), value(), any::<usize>(), any::<bool>()).prop_map(|(old, other, at, is_related)| {
        let new = if is_related { old.edited(&other, at) } else { other };
        (old, new)
    })
}

impl Value {
    /// This value with one part of it added, left out or replaced.
    fn edited(&self, other: &Self, choice: usize) -> Self {
        let (at, rest) = (choice / 3, choice / 30);
        let edited = match self {
            Self::Atom(_) => other.clone(),
            Self::Set(parts) | Self::Sequence(parts) => {
                let mut parts = parts.clone();
                let index = at % (parts.len() + 1);
                match choice % 3 {
                    0 if index < parts.len() => _ = parts.remove(index),
                    1 if index < parts.len() => parts[index] = parts[index].edited(other, rest),
                    _ => parts.insert(index, other.clone()),
                }
                if matches!(self, Self::Set(_)) {
                    Self::Set(parts)
                } else {
                    parts.retain(|part| !matches!(part, Self::Set(_)));
                    Self::Sequence(parts)
                }
            }
            Self::Function(map) | Self::Record(map) => {
                let mut map = map.clone();
                let key = ["a", "b", "c", "d"][at % 4].to_owned();
                match (choice % 3, map.remove(&key)) {
                    (0, Some(_)) => {}
                    (1, Some(old)) => _ = map.insert(key, old.edited(other, rest)),
                    (_, _) => _ = map.insert(key, other.clone()),
                }
                if matches!(self, Self::Function(_)) { Self::Function(map) } else { Self::Record(map) }
            }
        };
        edited.normal()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn the_old_value_with_the_changes_is_the_new_value_and_each_change_is_needed((old, new) in pair()) {
        let found = changes(&step(&old.text()), &step(&new.text()));
        let mut parts = BTreeMap::new();
        new.collect(&mut parts);
        prop_assert_eq!(old.apply("v", &found, &parts), new.clone(), "{:?}", found);
        for at in 0..found.len() {
            let mut fewer = found.clone();
            let change = fewer.remove(at);
            prop_assert_ne!(old.apply("v", &fewer, &parts), new.clone(), "{:?} in {:?}", change, found);
        }
    }
}
