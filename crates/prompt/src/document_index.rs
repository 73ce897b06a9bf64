//! The index of the documents: what each one holds and in which lines, and what a reader of the text alone misses.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::documents::{Document, ENDINGS};

/// The path of the index in the workspace: `docs/INDEX.md`, or another name if a document has this one. The comparison
/// ignores case, because some file systems do.
pub fn index_path<'a>(documents: impl Iterator<Item = &'a str>) -> String {
    let taken: Vec<String> = documents.map(str::to_lowercase).collect();
    let is_taken = |name: &String| taken.contains(&name.to_lowercase());
    let mut name = "INDEX.md".to_owned();
    let mut n = 1;
    while is_taken(&name) {
        n += 1;
        name = format!("INDEX-{n}.md");
    }
    format!("docs/{name}")
}

/// The text of the index: file, size, and headings with the lines that they span; also front matter, text before the first
/// heading, pictures, and links to files that are not among the documents.
pub fn render_index(documents: &[Document]) -> String {
    let mut out = String::from("# Documents\n");
    for document in documents {
        let lines = document.text.lines().count();
        let _ = writeln!(out, "\n## docs/{} ({} bytes, {lines} lines)\n", document.path, document.text.len());
        let front = front_matter(&document.text);
        let front_end = front.as_ref().map_or(0, |(end, _)| *end);
        if let Some((end, title)) = front {
            let title = title.map_or_else(String::new, |title| format!(", title \"{title}\""));
            let _ = writeln!(out, "- 1-{end}: front matter{title}");
        }
        let headings: Vec<_> = headings(&document.text).into_iter().filter(|(line, ..)| *line > front_end).collect();
        write_text_before(&mut out, &document.text, front_end, headings.first().map(|(line, ..)| *line));
        for (i, (line, level, title)) in headings.iter().enumerate() {
            let end = headings[i + 1..].iter().find(|(_, l, _)| l <= level).map_or(lines, |(next, ..)| next - 1);
            let _ = writeln!(out, "{}- {line}-{end}: {title}", "  ".repeat(level.saturating_sub(1)));
        }
        for line in pictures(&document.text).into_iter().chain(missing_links(document, documents)) {
            let _ = writeln!(out, "- {line}");
        }
    }
    out
}

/// The last line of YAML or TOML front matter, and its title.
fn front_matter(text: &str) -> Option<(usize, Option<String>)> {
    let mut lines = text.lines();
    let fence = lines.next().map(str::trim_end).filter(|line| matches!(*line, "---" | "+++"))?;
    let inside = lines.position(|line| line.trim_end() == fence)?;
    let titled = |line: &str| {
        let rest = line.strip_prefix("title")?.trim_start().strip_prefix([':', '='])?;
        Some(rest.trim().trim_matches(['"', '\'']).to_owned())
    };
    Some((inside + 2, text.lines().skip(1).take(inside).find_map(titled)))
}

/// Names the text between the front matter and the first heading, or the end of the document.
fn write_text_before(out: &mut String, text: &str, front_end: usize, heading: Option<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let end = heading.map_or(lines.len(), |line| line - 1);
    let mut written = (front_end..end).filter(|i| !lines[*i].trim().is_empty());
    let Some(first) = written.next() else { return };
    let last = written.next_back().unwrap_or(first);
    let what = if heading.is_some() { "text before the first heading" } else { "text without headings" };
    let _ = writeln!(out, "- {}-{}: {what}", first + 1, last + 1);
}

/// A picture in Markdown, HTML, AsciiDoc or reStructuredText.
static PICTURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"!\[(?<mdalt>[^\]]*)\]\((?<md>[^)\s]+)[^)]*\)|(?i:<img\b(?<html>[^>]*)>)|\bimage::?(?<adoc>[^\s\[:]+)\[(?<adocalt>[^\]]*)\]|^\s*\.\. (?:image|figure)::\s*(?<rst>\S+)",
    )
    .expect("a valid pattern")
});
static ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i)\b(src|alt)\s*=\s*["']([^"']*)["']"#).expect("a valid pattern"));

/// The pictures with their alternative text, which is all that a model sees of them.
fn pictures(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in unfenced_lines(text) {
        for picture in PICTURE.captures_iter(line) {
            let part = |name| picture.name(name).map(|part| part.as_str());
            let attribute = |wanted: &str| {
                let mut all = ATTRIBUTE.captures_iter(part("html").unwrap_or_default());
                all.find(|a| a[1].eq_ignore_ascii_case(wanted)).map(|a| a[2].to_owned())
            };
            // In reStructuredText the options are on the lines below.
            let option = || {
                let options = lines[number..].iter().take_while(|line| line.trim_start().starts_with(':'));
                options.filter_map(|line| line.trim().strip_prefix(":alt:")).map(|alt| alt.trim().to_owned()).next()
            };
            let path = part("md").or(part("adoc")).or(part("rst")).map(str::to_owned);
            let path = path.or_else(|| attribute("src")).unwrap_or_default();
            let alt = part("mdalt").or(part("adocalt")).map(str::to_owned);
            let alt = alt.or_else(|| if part("rst").is_some() { option() } else { attribute("alt") });
            let alt = match alt.filter(|alt| !alt.trim().is_empty()) {
                Some(alt) => format!("\"{}\"", alt.trim()),
                None => "without alternative text".to_owned(),
            };
            found.push(format!("line {number}: picture {path}, {alt}; it is not shown here"));
        }
    }
    found
}

/// A link in Markdown, HTML or AsciiDoc. A picture in Markdown is found, too.
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?<picture>!?)\[[^\]]*\]\((?<md><[^>]*>|[^)\s]+)[^)]*\)|(?i:<a\b[^>]*\bhref\s*=\s*["'](?<html>[^"']*)["'])|\b(?:link|xref):(?<adoc>[^\s\[]+)\["#,
    )
    .expect("a valid pattern")
});

/// Links to files that are not among the documents, each target once.
fn missing_links(document: &Document, documents: &[Document]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in unfenced_lines(&document.text) {
        for link in LINK.captures_iter(line).filter(|link| link.name("picture").is_none_or(|mark| mark.is_empty())) {
            let target =
                link.name("md").or(link.name("html")).or(link.name("adoc")).map_or("", |target| target.as_str());
            let target = target.trim_matches(['<', '>']).split(['#', '?']).next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.starts_with("//") || target.starts_with("mailto:");
            if target.is_empty() || is_elsewhere || seen.contains(&target) {
                continue;
            }
            seen.push(target);
            if !is_among(target, &document.path, documents) {
                found.push(format!("line {number}: links to {target}, which is not among the documents"));
            }
        }
    }
    found
}

/// Whether a link leads to one of the documents. Generators of sites let links leave out the ending, and the name of the
/// first page of a folder.
fn is_among(target: &str, from: &str, documents: &[Document]) -> bool {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let base = if target.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/").replace("%20", " ");
    documents.iter().any(|document| {
        let Some(rest) = document.path.strip_prefix(path.as_str()) else { return false };
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        let is_ending = |name: &str| name.strip_prefix('.').is_some_and(|ending| ENDINGS.contains(&ending));
        rest.is_empty()
            || is_ending(rest)
            || ["index", "README", "_index"].iter().any(|name| rest.strip_prefix(name).is_some_and(is_ending))
    })
}

/// The lines outside fenced code, with their numbers from 1.
fn unfenced_lines(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let numbered = text.lines().enumerate().filter(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    });
    numbered.map(|(i, line)| (i + 1, line)).collect()
}

/// Line, level and title of each heading: Markdown, AsciiDoc, reStructuredText and HTML.
pub(super) fn headings(text: &str) -> Vec<(usize, usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut fenced = false;
    let mut underlines: Vec<char> = Vec::new();
    let mut is_markdown = false;
    for (i, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        // In a code block `#` begins a comment.
        if fenced {
            continue;
        }
        let marks = |mark: char| line.chars().take_while(|c| *c == mark).count();
        for mark in ['#', '='] {
            let level = marks(mark);
            if (1..=6).contains(&level) && line[level..].starts_with(' ') {
                is_markdown |= mark == '#';
                found.push((i + 1, level, line[level..].trim().trim_end_matches(mark).trim().to_owned()));
            }
        }
        let lower = line.to_ascii_lowercase();
        if let Some(at) = lower.find("<h")
            && let Some(level) = lower[at + 2..].chars().next().and_then(|c| c.to_digit(10))
            && (1..=6).contains(&level)
            && let Some(open) = lower[at..].find('>')
        {
            let title: String = line[at + open + 1..].split('<').next().unwrap_or("").trim().to_owned();
            found.push((i + 1, level as usize, title));
        }
        if let Some(mark) = line.chars().next()
            && "=-~^*+".contains(mark)
            && line.trim_end().len() >= 3
            && line.trim_end().chars().all(|c| c == mark)
            && let Some(title) = i.checked_sub(1).map(|p| lines[p].trim())
            && !title.is_empty()
            // An underline is at least as long as its title; a shorter one is a rule or a table.
            && title.len() <= line.trim_end().len()
            && !title.starts_with(['#', '|', '-', '*'])
        {
            let level = match mark {
                '=' if is_markdown => 1,
                '-' if is_markdown => 2,
                // reStructuredText gives the characters no order: the first one that is used is the highest level.
                _ => {
                    1 + underlines.iter().position(|u| *u == mark).unwrap_or_else(|| {
                        underlines.push(mark);
                        underlines.len() - 1
                    })
                }
            };
            found.push((i, level, title.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_gives_each_heading_the_lines_it_spans() {
        let text = "# One\na\n## Two\nb\n```\n# not one\n```\n## Three\nc\n".to_owned();
        let rst = "Title\n=====\n\ntext\n\nPart\n----\n\nmore\n".to_owned();
        let html = "<h1>Top</h1>\n<p>x</p>\n<h2 id=\"k\">Key</h2>\n".to_owned();
        let doc = |path: &str, text: &String| Document { path: path.into(), text: text.clone() };
        let index = render_index(&[doc("a.md", &text), doc("b.rst", &rst), doc("c.html", &html)]);
        for expected in
            ["- 1-9: One", "  - 3-7: Two", "  - 8-9: Three", "- 1-9: Title", "- 6-9: Part", "- 1-3: Top", "- 3-3: Key"]
        {
            assert!(index.contains(expected), "{expected} in\n{index}");
        }
        assert!(!index.contains("not one"));
    }

    #[test]
    fn the_index_names_what_a_reader_of_the_headings_alone_would_miss() {
        let markdown = "---\ntitle: \"The swap\"\ndate: 2020\n---\n\nA word before.\nAnd one more.\n\n# One\n\
            See ![The flow of a swap](pics/flow.png \"t\") and [fees](fees.md#top), [rest](../rest), [guide](/guide/).\n\
            [spec](spec.pdf) [again](spec.pdf) [web](https://x.org/a.md) [here](#one) <img src=\"a.png\">\n\
            ```\n![no](no.png) [no](no.md)\n```\n";
        let rst = ".. image:: state.svg\n   :alt: The states\n\nWords.\n";
        let adoc = "= Title\nimage::pic.png[A picture] xref:gone.adoc[gone] link:swap.md[x]\n";
        let doc = |path: &str, text: &str| Document { path: path.into(), text: text.to_owned() };
        let all = [doc("a/swap.md", markdown), doc("a/b.rst", rst), doc("a/c.adoc", adoc), doc("rest.md", "x\n")];
        let index = render_index(&[all.as_slice(), &[doc("guide/index.html", "y\n")]].concat());
        let section = |name: &str| {
            let after = index.split(&format!("## docs/{name} ")).nth(1).unwrap();
            let lines = after.split("\n## ").next().unwrap().lines().skip(1).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            section("a/swap.md"),
            [
                "- 1-4: front matter, title \"The swap\"",
                "- 6-7: text before the first heading",
                "- 9-14: One",
                "- line 10: picture pics/flow.png, \"The flow of a swap\"; it is not shown here",
                "- line 11: picture a.png, without alternative text; it is not shown here",
                "- line 10: links to fees.md, which is not among the documents",
                "- line 11: links to spec.pdf, which is not among the documents",
            ]
        );
        assert_eq!(
            section("a/b.rst"),
            ["- 1-4: text without headings", "- line 1: picture state.svg, \"The states\"; it is not shown here"]
        );
        assert_eq!(
            section("a/c.adoc"),
            [
                "- 1-2: Title",
                "- line 2: picture pic.png, \"A picture\"; it is not shown here",
                "- line 2: links to gone.adoc, which is not among the documents",
            ]
        );
    }
}
