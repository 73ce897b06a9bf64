//! Reading of a log that is a stream of server-sent events, as a client of a model's server stores it. Source:
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html>, section 9.2.6.

/// Whether a log that begins like this is a stream of server-sent events.
pub fn is_event_stream(beginning: &[u8]) -> bool {
    let text = beginning.strip_prefix("\u{feff}".as_bytes()).unwrap_or(beginning);
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.next().is_some_and(|line| {
        [b"data:".as_slice(), b"event:", b"id:", b"retry:", b":"].iter().any(|field| line.starts_with(field))
    })
}

/// Writes the data of each event as a JSON line, at the place of its last line, so that numbers of lines stay what they are.
/// Lines of other fields, comments, and the mark `[DONE]` become empty lines; whatever else there is stays as it is.
pub fn event_stream_lines(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut out = Vec::with_capacity(text.len());
    let mut lines = text.split(|byte| *byte == b'\n').peekable();
    let mut data: Vec<u8> = Vec::new();
    while let Some(line) = lines.next() {
        let line = line.trim_ascii();
        let is_other = [b"event:".as_slice(), b"id:", b"retry:", b":"].iter().any(|field| line.starts_with(field));
        if let Some(part) = line.strip_prefix(b"data:") {
            data.push(b' ');
            data.extend_from_slice(part.trim_ascii());
            // Servers that write no empty line between events write each in one line.
            let is_whole = || serde_json::from_slice::<serde::de::IgnoredAny>(&data).is_ok();
            let is_last = !lines.peek().is_some_and(|next| next.trim_ascii().starts_with(b"data:"));
            if is_last || is_whole() {
                let is_mark = matches!(data.trim_ascii(), b"" | b"[DONE]");
                out.extend_from_slice(if is_mark { b"" } else { &data });
                data.clear();
            }
        } else if !is_other {
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_a_line_at_its_place() {
        let stream = b": hi\nevent: a\ndata: {\"a\":1}\n\nid: 7\ndata: {\"b\":\r\ndata: 2}\r\n\r\ndata: [DONE]\n";
        assert!(is_event_stream(stream));
        let lines = event_stream_lines(stream);
        let lines: Vec<&str> = std::str::from_utf8(&lines).unwrap().lines().map(str::trim).collect();
        assert_eq!(lines, ["", "", "{\"a\":1}", "", "", "", "{\"b\": 2}", "", "", ""]);
        assert!(!is_event_stream(b"{\"data\": 1}\n") && !is_event_stream(b""));
        // Nothing but fields, comments and marks is left out.
        let mixed = event_stream_lines(b": hi\n{\"a\":1}\ndata: {\"b\":1}\ndata: {\"c\":1}\ndata: x {\ndata: [1]\n");
        let lines: Vec<&str> = std::str::from_utf8(&mixed).unwrap().lines().map(str::trim).collect();
        assert_eq!(lines, ["", "{\"a\":1}", "{\"b\":1}", "{\"c\":1}", "", "x { [1]", ""]);
    }
}
