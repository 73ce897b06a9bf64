//! `\* EXPECT …`: the verdict that a configuration says its check ends with, for a folder of models as a test suite. Read
//! from the text, because a configuration that is expected to be rejected may not parse.

use super::outcome::DEADLOCK;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedVerdict {
    Holds,
    /// Exactly these properties are violated; never empty.
    Violated(Vec<String>),
    /// The module or the configuration is rejected, or an expression cannot be evaluated.
    Error,
}

impl ExpectedVerdict {
    /// The expectation in the comments of a configuration; [`Self::Holds`] if there is none.
    ///
    /// # Errors
    /// The line, and what is wrong with it: an unknown verdict, or a second expectation.
    pub fn parse(cfg: &str) -> Result<(usize, Self), (usize, String)> {
        let mut expected = None;
        for (line, text) in (1..).zip(cfg.lines()) {
            let comment = text.find("\\*").unwrap_or(text.len());
            let Some(words) = expectation(&text[comment..]) else {
                if seems_expectation(text) {
                    return Err((line, "write an expectation as `\\* EXPECT …`".to_owned()));
                }
                continue;
            };
            if !text[..comment].trim().is_empty() {
                return Err((line, "EXPECT needs a line of its own".to_owned()));
            }
            if expected.is_some() {
                return Err((line, "a second EXPECT: a configuration has one".to_owned()));
            }
            let verdict = Self::from_words(words).ok_or_else(|| {
                let known = "EXPECT holds, EXPECT violated NAME (several: A, B), EXPECT deadlock or EXPECT error";
                (line, format!("unknown expectation `{words}`: write {known}"))
            })?;
            expected = Some((line, verdict));
        }
        Ok(expected.unwrap_or((1, Self::Holds)))
    }

    fn from_words(words: &str) -> Option<Self> {
        match words {
            "holds" => return Some(Self::Holds),
            "deadlock" => return Some(Self::Violated(vec![DEADLOCK.to_owned()])),
            "error" => return Some(Self::Error),
            _ => {}
        }
        let rest = words.strip_prefix("violated")?.strip_prefix([' ', '\t'])?;
        let names: Vec<String> = rest.split([' ', '\t', ',']).filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let is_name = |name: &String| name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '!');
        (!names.is_empty() && names.iter().all(is_name)).then_some(Self::Violated(names))
    }

    /// As it is written after `EXPECT`.
    pub fn words(&self) -> String {
        match self {
            Self::Holds => "holds".to_owned(),
            Self::Violated(names) if *names == [DEADLOCK] => "deadlock".to_owned(),
            Self::Violated(names) => format!("violated {}", names.join(", ")),
            Self::Error => "error".to_owned(),
        }
    }
}

/// The words after `EXPECT` in a line that is a comment.
fn expectation(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("\\*")?.trim_start().strip_prefix("EXPECT")?;
    // `EXPECTED: …` is prose; `EXPECT` without a verdict is a mistake.
    (rest.is_empty() || rest.starts_with([' ', '\t', ':'])).then(|| rest.trim_start_matches(':').trim())
}

/// Whether a line says what is expected, in another form than the one that is read: such a test would only seem to pass.
fn seems_expectation(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| word.eq_ignore_ascii_case("EXPECT"))
        && words.next().is_some_and(|word| {
            ["holds", "violated", "deadlock", "error"].iter().any(|known| word.eq_ignore_ascii_case(known))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_read_from_comments() {
        let violated = |names: &[&str]| Ok(ExpectedVerdict::Violated(names.iter().map(|&n| n.to_owned()).collect()));
        for (cfg, expected) in [
            ("INVARIANT Inv\n", Ok(ExpectedVerdict::Holds)),
            ("\\* EXPECTED to hold\n", Ok(ExpectedVerdict::Holds)),
            ("INVARIANT Inv\n  \\* EXPECT holds  \n", Ok(ExpectedVerdict::Holds)),
            ("\\* EXPECT violated Inv\n", violated(&["Inv"])),
            ("\\* EXPECT: violated Inv, Live\n", violated(&["Inv", "Live"])),
            ("\\* EXPECT deadlock", violated(&["Deadlock"])),
            ("no configuration\n\\*EXPECT error", Ok(ExpectedVerdict::Error)),
        ] {
            assert_eq!(ExpectedVerdict::parse(cfg).map(|(_, verdict)| verdict), expected, "{cfg}");
        }
        for (cfg, line) in [
            ("\\* EXPECT\n", 1),
            ("\\* EXPECT violated\n", 1),
            ("\n\\* EXPECT Holds\n", 2),
            ("\\* EXPECT violated a-b\n", 1),
            ("\\* EXPECT holds\n\n\\* EXPECT holds\n", 3),
            ("\nINVARIANT Inv \\* EXPECT violated Inv\n", 2),
            ("(* EXPECT violated Inv *)\n", 1),
            ("\\*** Expect: deadlock\n", 1),
        ] {
            assert_eq!(ExpectedVerdict::parse(cfg).map_err(|(line, _)| line), Err(line), "{cfg}");
        }
    }
}
