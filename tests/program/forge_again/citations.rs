//! Citations in documents that change: the text at the new place is the text at the old one.

use proptest::prelude::*;

use tlaforge::prompt::{Document, EARLIER, MovedCitations};

/// A paragraph before and after the change. Every sentence has its own words and begins a line.
#[derive(Debug, Clone)]
struct Paragraph {
    /// Each sentence, and whether it has changed.
    sentences: Vec<(String, bool)>,
    /// A sentence that is added after the one with this number.
    added: Option<usize>,
    in_second_document: [bool; 2],
}

fn paragraphs() -> impl Strategy<Value = Vec<Paragraph>> {
    let one =
        (prop::collection::vec((1..5_usize, prop::bool::weighted(0.2)), 1..4), prop::option::weighted(0.2, 0..3_usize));
    let placed = (one, any::<[bool; 2]>());
    prop::collection::vec(placed, 1..8).prop_map(|all| {
        let mut number = 0;
        let mut paragraph = |sentences: Vec<(usize, bool)>, added, in_second_document| {
            let sentences = sentences
                .into_iter()
                .map(|(words, changed)| {
                    number += 1;
                    let words =
                        (0..words).map(|word| format!("{}{number}", char::from(b'a' + u8::try_from(word).unwrap())));
                    (format!("N{number} {}.", words.collect::<Vec<_>>().join(" ")), changed)
                })
                .collect();
            Paragraph { sentences, added, in_second_document }
        };
        all.into_iter().map(|((sentences, added), second)| paragraph(sentences, added, second)).collect()
    })
}

/// Adds a sentence, wrapped at some of its blanks, and returns its place.
fn add(document: &mut Document, sentence: &str, wraps: &mut impl Iterator<Item = bool>) -> (String, usize, usize) {
    let from = document.text.lines().count() + 1;
    document.text.extend(sentence.chars().map(|c| if c == ' ' && wraps.next().unwrap() { '\n' } else { c }));
    document.text.push('\n');
    (document.path.clone(), from, document.text.lines().count())
}

fn documents(names: [&str; 2]) -> [Document; 2] {
    names.map(|path| Document { path: path.to_owned(), text: format!("# Title of {path}\n\n") })
}

/// The sentences on these lines, each in one line.
fn sentences_at(documents: &[Document], place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in place.split("; ") {
        let (path, ranges) = part.rsplit_once(':').unwrap();
        let document = documents.iter().find(|document| document.path == path).unwrap_or_else(|| panic!("no {path}"));
        let lines: Vec<&str> = document.text.lines().collect();
        for range in ranges.split(", ") {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            let text = lines[from.parse::<usize>().unwrap() - 1..to.parse().unwrap()].join(" ");
            found.extend(text.split_inclusive('.').map(|one| one.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    found.sort();
    found
}

proptest! {
    #[test]
    fn the_text_at_the_new_place_is_the_text_at_the_old_one(
        paragraphs in paragraphs(),
        order in any::<prop::sample::Index>(),
        wraps in prop::collection::vec(any::<bool>(), 40),
        renamed in any::<bool>(),
        headings in any::<bool>(),
    ) {
        let mut old = documents(["a.md", "sub/b.md"]);
        let mut new = documents(["a.md", if renamed { "c.md" } else { "sub/b.md" }]);
        let mut wraps = wraps.into_iter().cycle();
        // Each cited range with the sentences in it: those that stay, and those that change.
        let mut cited: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
        for paragraph in &paragraphs {
            let document = &mut old[usize::from(paragraph.in_second_document[0])];
            let places: Vec<_> =
                paragraph.sentences.iter().map(|(sentence, _)| add(document, sentence, &mut wraps)).collect();
            document.text.push('\n');
            for first in 0..places.len() {
                for last in first..places.len() {
                    let place = format!("{}:{}-{}", places[first].0, places[first].1, places[last].2);
                    let of = |wanted: bool| {
                        let all = paragraph.sentences[first..=last].iter();
                        let mut of: Vec<String> =
                            all.filter(|(_, changed)| *changed == wanted).map(|(text, _)| text.clone()).collect();
                        of.sort();
                        of
                    };
                    cited.push((place, of(false), of(true)));
                }
            }
        }
        let mut rotated = paragraphs.clone();
        rotated.rotate_left(order.index(paragraphs.len()));
        for (number, paragraph) in rotated.iter().enumerate() {
            let document = &mut new[usize::from(paragraph.in_second_document[1])];
            if headings {
                document.text.extend(["## Heading ", &number.to_string(), "\n\n"]);
            }
            for (at, (sentence, changed)) in paragraph.sentences.iter().enumerate() {
                let changed = if *changed { format!("Other {}", sentence.to_uppercase()) } else { sentence.clone() };
                add(document, &changed, &mut wraps);
                if paragraph.added == Some(at) {
                    add(document, &format!("Added {}.", "x".repeat(number + 1)), &mut wraps);
                }
            }
            document.text.push('\n');
        }
        let citations = MovedCitations::new(&old, &new);
        for (place, kept, changed) in &cited {
            for (before, after) in [("R1 [docs/", "] It holds."), ("- `Go`: enabled [docs/", "]"), ("\\* see docs/", "")] {
                let moved = citations.move_in(&format!("{before}{place}{after}"));
                let before = before.strip_suffix("docs/").unwrap();
                let place = moved.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap();
                let (lost, found): (Vec<&str>, Vec<&str>) =
                    place.split("; ").partition(|part| part.starts_with(EARLIER));
                let plain = |parts: Vec<&str>, prefix: &str| -> Vec<String> {
                    parts.into_iter().map(|part| part.strip_prefix(prefix).unwrap().to_owned()).collect()
                };
                let texts = |documents: &[Document], parts: Vec<String>| {
                    if parts.is_empty() { Vec::new() } else { sentences_at(documents, &parts.join("; ")) }
                };
                prop_assert_eq!(&texts(&new, plain(found, "docs/")), kept, "{}", moved);
                prop_assert_eq!(&texts(&old, plain(lost, EARLIER)), changed, "{}", moved);
            }
        }
    }

    #[test]
    fn nothing_changes_in_a_text_for_the_same_documents(text in r"([RA]1? ?[\[(]?(docs/)?(a\.md|sub/b\.md)?[:,;# L\-]{0,2}[0-9]{0,2}[\])]?[ \n]?){0,12}") {
        let mut all = documents(["a.md", "sub/b.md"]);
        for document in &mut all {
            document.text += &"One line.\n".repeat(120);
        }
        let moved = MovedCitations::new(&all, &all).move_in(&text);
        // Only lines that no document has are marked, such as 0 or 9-1.
        if !moved.contains(EARLIER) {
            prop_assert_eq!(moved, text);
        }
    }
}
