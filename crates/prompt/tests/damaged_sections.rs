//! Random damage to the lists of an informal specification: whatever is not parsed as the item that it was is in an error.

#![allow(clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use tlaforge_prompt::{
    fixed_names, other_concerns, out_of_scope_lines, parse_assumptions, parse_open_points, parse_requirements,
    prose_among_items, unread_lines,
};

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const TITLES: [&str; 11] = [
    "Concern",
    "Other concerns",
    "State",
    "Names",
    "Steps",
    "Requirements",
    "Fairness",
    "Witnesses",
    "Open points",
    "Assumptions",
    "Out of scope",
];

struct Item {
    title: &'static str,
    /// A word that no other item has.
    word: String,
    /// Number, place and text, as far as the form has them.
    number: String,
    place: String,
    text: String,
}

impl Item {
    fn new(title: &'static str, at: usize, random: &mut Random) -> Self {
        let word = format!("zeta{at}x{}", random.below(1000));
        let place = format!("[docs/a.md:{}]", 1 + random.below(99));
        let (letter, text) = match title {
            "Requirements" => ("R", format!("The {word} never ends. {}", random.of(&["(safety)", "(liveness)"]))),
            "Open points" => ("O", format!("Is {word} lost? Taken: yes. Otherwise: no. Affects: R1.")),
            "Assumptions" => {
                ("A", format!("{} The {word} goes on.", random.of(&["(fairness)", "(bound)", "(left out)"])))
            }
            "Other concerns" => ("", format!("{word}: docs/a.md:7; it has state")),
            "Names" => ("", format!("{} {word} {place}", random.of(&["variables", "constants", "labels"]))),
            _ => ("", format!("{place} {word} is another team's")),
        };
        let number = if letter.is_empty() { String::new() } else { format!("{letter}{at}") };
        Self { title, word, number, place, text }
    }

    fn line(&self) -> String {
        if self.number.is_empty() {
            format!("- {}", self.text)
        } else {
            format!("{} {} {}", self.number, self.place, self.text)
        }
    }
}

/// What a line becomes, and the section that it is in then.
fn damaged(item: &Item, taken: &str, random: &mut Random) -> (String, &'static str) {
    let line = item.line();
    let is_numbered = !item.number.is_empty();
    let bare = line.trim_start_matches("- ").to_owned();
    let text = match random.below(20) {
        0 if is_numbered => format!("{} {}", item.place, item.text),
        1 if is_numbered => item.text.clone(),
        2 if is_numbered => {
            let letters = [
                "L",
                "X",
                "r",
                "\u{420}",
                "\u{ff32}",
                "\u{24c7}",
                "\u{410}",
                "\u{41e}",
                "\u{1d411}",
                "Req",
                "Req. ",
                "RR",
                "\u{39f}",
            ];
            format!("{}{}", random.of(&letters), &line[1..])
        }
        3 if is_numbered => format!("{taken}{}", &line[item.number.len()..]),
        4 => format!(
            "{}{bare}",
            random.of(&["- ", "* ", "+ ", "\u{2022} ", "1. ", "2) ", "a) ", "> ", "| ", "\u{2013} ", "\\- "])
        ),
        5 => {
            let hidden = random.of(&["\u{200b}", "\u{feff}", "\u{202e}", "\u{2060}", "\u{ad}", "\u{200d}"]);
            let at = random.below(4).min(line.len());
            format!("{}{hidden}{}", &line[..at], &line[at..])
        }
        6 => format!("{}{line}", random.of(&[" ", "  ", "    ", "\t", "\u{a0}", "          "])),
        7 => format!("{}\n{line}\n{}", random.of(&["```", "~~~", "````text"]), random.of(&["```", "~~~", ""])),
        8 => format!("<!-- {line} -->"),
        9 => format!("<!--\n{line}\n-->"),
        10 => format!("**{bare}**"),
        11 => format!("{} {bare}", random.of(&["#", "##", "###", "####"])),
        12 => format!("<li>{bare}</li>"),
        13 if is_numbered => format!(
            "{}{}{}",
            item.number,
            random.of(&["a", "b", "'", ",", "/2", ".1", "-2", "\u{b2}", "\u{200b}"]),
            &line[item.number.len()..]
        ),
        14 if is_numbered => format!("{} {}", &line[..1], &line[1..]),
        15 if is_numbered => format!("{taken} {} {} {line}", item.place, "Both are (safety)"),
        16 => line.replacen(' ', "\n  ", 1),
        17 => bare,
        18 => format!("{line} <!-- seen -->"),
        _ => line,
    };
    let lists = ["Requirements", "Open points", "Assumptions", "Out of scope", "Other concerns", "Names"];
    let free = ["State", "Steps", "Fairness", "Witnesses"];
    let title = match random.below(4) {
        0 => random.of(&lists),
        1 if is_numbered && text == line_of(item) => random.of(&free),
        _ => item.title,
    };
    (text, title)
}

fn line_of(item: &Item) -> String {
    item.line()
}

fn heading(title: &str, random: &mut Random) -> String {
    match random.below(12) {
        0 => format!("### {title}"),
        1 => format!("## **{title}**"),
        2 => format!("## 6. {title} (as asked)"),
        3 => format!("{title}\n-----"),
        4 => format!("## {}", title.to_uppercase()),
        5 => format!("**{title}**"),
        6 => format!("<h2>{title}</h2>"),
        7 => format!("> ## {title}"),
        8 => format!("## {title} ##"),
        _ => format!("## {title}"),
    }
}

/// The words of the items that were parsed, each with the text that it is in.
fn parsed(text: &str) -> Vec<String> {
    let mut all: Vec<String> = parse_requirements(text).into_iter().map(|r| r.text).collect();
    all.extend(parse_open_points(text).into_iter().map(|o| format!("{} {}", o.question, o.taken)));
    all.extend(parse_assumptions(text).into_iter().map(|a| a.text));
    all.extend(out_of_scope_lines(text));
    all.extend(other_concerns(text));
    let names = fixed_names(text);
    all.extend(names.module.into_iter().chain(names.constants).chain(names.variables).chain(names.labels));
    all
}

#[test]
fn whatever_is_not_parsed_goes_back() {
    let rounds: u64 = if std::env::var_os("TLAFORGE_CAMPAIGN").is_some() { 50_000 } else { 5_000 };
    for round in 1..=rounds {
        let random = &mut Random(round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut items = Vec::new();
        for title in TITLES {
            let count = if ["Concern", "State", "Steps", "Fairness", "Witnesses"].contains(&title) {
                0
            } else {
                1 + random.below(3)
            };
            for _ in 0..count {
                let at = items.len() + 1;
                items.push(Item::new(title, at, random));
            }
        }
        let is_damaged = random.below(items.len());
        let damage_twice = random.below(3) == 0;
        let mut placed: Vec<(String, &str)> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let taken = items.iter().find(|one| one.title == item.title).map_or("", |one| one.number.as_str());
            let hit = at == is_damaged || (damage_twice && random.below(4) == 0);
            placed.push(if hit { damaged(item, taken, random) } else { (item.line(), item.title) });
        }
        let mut text = String::from("# The zeta protocol\n");
        for title in TITLES {
            let above = if random.below(8) == 0 { heading(title, random) } else { format!("## {title}") };
            text.extend(["\n", above.as_str(), "\n"]);
            let own: Vec<&str> = placed.iter().filter(|(_, at)| *at == title).map(|(line, _)| line.as_str()).collect();
            text.push_str(if own.is_empty() { "- none\n" } else { "" });
            for line in own {
                let blank = if random.below(5) == 0 { "\n" } else { "" };
                text.extend([line, "\n", blank]);
            }
        }
        let (parsed, prose) = (parsed(&text), prose_among_items(&text));
        // The error shows the line as it is.
        let is_seen = |c: &char| !"\u{200b}\u{feff}\u{202e}\u{2060}\u{ad}\u{200d}".contains(*c);
        let errors: Vec<String> =
            unread_lines(&text).iter().map(|error| error.chars().filter(is_seen).collect()).collect();
        for item in &items {
            // An item that is only prose now may continue the one above.
            let is_prose = placed.iter().any(|(line, _)| *line == item.text);
            let is_own = |text: &String| text.contains(&item.word) && (is_prose || text.matches("zeta").count() == 1);
            let is_known = parsed.iter().any(is_own)
                || errors.iter().any(|error| error.contains(&item.word))
                || prose.iter().any(|line| line.contains(&item.word));
            // Items below a line that is no heading are sent back with it.
            let is_named = errors.iter().any(|error| {
                error.contains("write it as the heading") || error.contains("it cites a place and is a heading")
            });
            assert!(is_known || is_named, "round {round}: {} is lost\n{text}\n{errors:#?}\n{parsed:#?}", item.line());
        }
    }
}
