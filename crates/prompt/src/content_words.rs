//! The words of a text that say what it is about, reduced so that two texts about the same thing have words in common.

use std::collections::BTreeSet;

/// Words that every text has, cut by [`stem`] as all others are.
const STOP_WORDS: &str = "a about after again all already also although always an and another any are as at away back be \
    because been before being between both but by can cannot could did do does done down during each either else every \
    everything few for from further had has have having he her here him his how however i if in instead into is it its itself \
    just least less made make many may me might more most much must my neither never no nobody nor not nothing now of off often \
    on once one only or other others otherwise our out over own per rather same shall she should since so some something \
    still such than that the their them then there these they thing things this those though through thus to together too \
    under unless until up upon us use used uses using very was we well were what when whenever where whether which while \
    who whole whom whose why will with within without would yet you your doc docs md";

/// The content words of a text: lower-case stems without stop words, with the parts of identifiers, and numbers. Scripts
/// without upper and lower case give pairs of characters.
pub(super) fn content_words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in words(text) {
        let lower = word.to_lowercase();
        if STOP_WORDS.split_whitespace().any(|stop| stop == lower) {
            continue;
        }
        if word.chars().any(|c| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()) {
            let characters: Vec<char> = word.chars().collect();
            if characters.len() == 1 {
                found.insert(lower);
            }
            found.extend(characters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else {
            found.insert(stem(&lower));
        }
    }
    found
}

/// Words and the parts of identifiers: `MAX_TOKENS`, `readRow` and `db2` have two each.
fn words(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        _ if c.is_numeric() => 1,
        _ if c.is_uppercase() => 2,
        _ if c.is_lowercase() => 3,
        _ if c.is_alphanumeric() => 4,
        _ => 0,
    };
    let mut found: Vec<String> = Vec::new();
    let mut before = 0;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let now = class(c);
        // `HTTPServer`: the last upper-case letter begins the next part.
        let begins_part = now == 2 && before == 2 && characters.peek().is_some_and(|next| class(*next) == 3);
        let continues = now != 0 && before != 0 && (now == before || (before == 2 && now == 3)) && !begins_part;
        match found.last_mut() {
            Some(word) if continues => word.push(c),
            _ if now != 0 => found.push(c.to_string()),
            _ => {}
        }
        before = now;
    }
    found
}

/// Cuts endings, so that `release`, `releases` and `releasing` are the same.
fn stem(word: &str) -> String {
    const ENDINGS: [&str; 16] =
        ["ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "er", "ed", "es", "al", "ly", "s", "y", "e"];
    let cut = ENDINGS.iter().find_map(|ending| {
        // "apply" has no ending of an adverb.
        let least = if ["al", "ly"].contains(ending) { 4 } else { 3 };
        word.strip_suffix(ending).filter(|cut| cut.chars().count() >= least)
    });
    let rest = cut.unwrap_or(word);
    let rest = rest.strip_suffix('e').filter(|cut| cut.chars().count() >= 3).unwrap_or(rest);
    let mut characters: Vec<char> = rest.chars().collect();
    if characters.len() > 3 && characters[characters.len() - 1] == characters[characters.len() - 2] {
        characters.pop();
    }
    characters.into_iter().take(5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one_and_parts_of_identifiers_are_words() {
        for (one, other) in [
            ("The lock is released.", "releasing"),
            ("No client withdraws money", "withdrawal"),
            ("it stops", "stopped"),
            ("`MAX_TOKENS`", "a token"),
            ("readRow(r)", "the row"),
            ("retries", "a retry"),
            ("Apply", "it applies"),
            ("`HTTPServer`", "server"),
            ("within 5 s", "5"),
            ("客户端必须等待", "每个客户端"),
            ("Er wartet", "wartet"),
        ] {
            assert!(
                !content_words(one).is_disjoint(&content_words(other)),
                "{one}: {:?}, {:?}",
                content_words(one),
                content_words(other)
            );
        }
        for (one, other) in [("It is the one", "that is not"), ("The lock", "the fee"), ("客户端", "费用")] {
            assert!(content_words(one).is_disjoint(&content_words(other)), "{one}");
        }
        assert!(content_words("It is not that one.").is_empty());
    }
}
