//! Words and markup with which calls are written outside of the known forms. They show that something may be a call, and no
//! more: a log with one that was not read has no verdict.

use std::borrow::Cow;

/// The longest of [`CALL_WORDS`], with room for separators.
const LONGEST_WORD: usize = 24;

/// Values of keys such as `kind` that say that an object is a call.
const CALL_WORDS: [&str; 20] = [
    "tool_call",
    "tool_use",
    "tool_calls",
    "toolcall",
    "tooluse",
    "tool_call_start",
    "tool_call_chunk",
    "tool_call_delta",
    "tool_execution",
    "tool_invocation",
    "tool_request",
    "tool_start",
    "call_tool",
    "use_tool",
    "function_call",
    "functioncall",
    "function_calls",
    "mcp_tool_call",
    "mcp_tool_use",
    "execute_tool",
];

/// A key or a type in lower case with underscores: `toolCalls`, `tool-calls` and `tool_calls` are the same.
pub(super) fn normal(word: &str) -> Cow<'_, str> {
    if !word.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'-' || byte == b' ') {
        return Cow::Borrowed(word);
    }
    let mut out = String::with_capacity(word.len() + 4);
    let mut before_is_lower = false;
    for c in word.chars() {
        if c == '-' || c == ' ' {
            out.push('_');
        } else if c.is_ascii_uppercase() {
            if before_is_lower {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
        before_is_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    Cow::Owned(out)
}

/// Whether a text is a word for a call: `tool_call`, `toolCall`, `FUNCTION_CALL`.
pub(super) fn is_call_word(text: &str) -> bool {
    let may_be = (8..=LONGEST_WORD).contains(&text.len())
        && text.bytes().any(|byte| matches!(byte, b't' | b'T' | b'f' | b'F'))
        && text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b' ' | b'.'));
    may_be && {
        let word = normal(text);
        let word = word.rsplit('.').next().unwrap_or(&word);
        CALL_WORDS.contains(&word)
    }
}

/// The markup of calls that a server has left in the text of a model.
const MARKUP: [&str; 20] = [
    "<tool_call",
    "<tool_use",
    "<function_call",
    "<function=",
    "<invoke ",
    "<tool name=",
    "<|tool_call",
    "<|python_tag|>",
    "<|tool\u{2581}call",
    "<\u{ff5c}tool\u{2581}call",
    "<|channel|>commentary to=",
    "[TOOL_CALLS]",
    "[TOOL_REQUEST]",
    "<toolcall",
    "<functioncall",
    "<start_function_call",
    "<|START_ACTION|>",
    "<execute_command>",
    "<use_mcp_tool>",
    "<|start|>assistant to=functions.",
];

/// Whether a text has the markup of a call.
pub(super) fn has_call_markup(text: &str) -> bool {
    // Markup in backticks is quoted, and no call.
    let is_quoted = |at: usize| at > 0 && text.as_bytes()[at - 1] == b'`';
    let begins = |at: usize, markup: &str| {
        let found = text.as_bytes().get(at..at + markup.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(markup.as_bytes()))
    };
    memchr::memchr2_iter(b'<', b'[', text.as_bytes())
        .any(|at| (MARKUP.iter().any(|markup| begins(at, markup)) || is_namespaced(&text[at..])) && !is_quoted(at))
}

/// Whether a text begins with an element that has a namespace, such as `<ns:invoke name=…>`.
fn is_namespaced(text: &str) -> bool {
    let end = text.len().min(40);
    let Some(element) = text.as_bytes()[..end].strip_prefix(b"<") else { return false };
    let Some(colon) = element.iter().position(|byte| !byte.is_ascii_alphanumeric()) else { return false };
    element[colon..].starts_with(b":invoke ") || element[colon..].starts_with(b":function_call")
}

/// Whether a text that is no JSON has a part that may be the JSON of a call, cut off or with other text around it.
pub(super) fn may_be_cut_off_call(text: &str) -> bool {
    let has = |part: &str| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some();
    let has_any = |keys: &[&str]| keys.iter().any(|key| has(key));
    text.contains('{')
        && (has_any(&[
            "tool_call",
            "tool_use",
            "function_call",
            "functionCall",
            "toolCall",
            "toolUse",
            "tool_name",
            "toolName",
        ]) || has_any(&["\"name\"", "\"tool\"", "\"function\"", "\"func\""])
            && has_any(&["\"input\"", "\"arguments\"", "\"args\"", "\"parameters\"", "\"params\""]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_markup_are_recognized() {
        for word in ["tool_call", "toolCall", "TOOL_CALL", "tool-use", "FunctionCall", "item.tool_call"] {
            assert!(is_call_word(word), "{word}");
        }
        for word in ["", "tool", "a tool call is made", "tool_result", "function", "recall_tool_calling_twice"] {
            assert!(!is_call_word(word), "{word}");
        }
        for text in [
            "Now:\n<tool_call>\n{\"name\": \"Bash\"}",
            "<function_calls>",
            "<ant:invoke name=\"Bash\">",
            "[TOOL_CALLS][{",
            "é<|python_tag|>ls",
            "<TOOL_CALL>",
        ] {
            assert!(has_call_markup(text), "{text}");
        }
        for text in ["a < b", "<p>tool_call</p>", "[tool]", "", "<é:invoke", "x <functional>", "`<tool_call>`"] {
            assert!(!has_call_markup(text), "{text}");
        }
    }
}
