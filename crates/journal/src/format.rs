//! The format version of the journal: how a line begins in every version, and which version is read.

/// The start of every line, in every format version.
pub(super) const LINE_START: &[u8] = b"{\"v\":";
/// The format version that is written, and the only one that is read. Version 3 has typed events; tlaforge 0.1 wrote
/// versions 1 and 2.
pub(super) const FORMAT: u32 = 3;
/// The last format version of tlaforge 0.1.
const LAST_OF_0_1: u32 = 2;

/// Why a line of this format version cannot be read; `None` for the current version.
pub(super) fn wrong_version(v: u32) -> Option<String> {
    let this = env!("CARGO_PKG_VERSION");
    match v {
        FORMAT => None,
        1..=LAST_OF_0_1 => Some(format!(
            "its format is version {v}, which tlaforge 0.1 reads; this is tlaforge {this}, which reads version {FORMAT}"
        )),
        _ => Some(format!(
            "its format is version {v}, which a newer tlaforge wrote; this is tlaforge {this}, which reads version \
             {FORMAT}"
        )),
    }
}

/// Why a line cannot be read, from its version number. Reads only the start of the line, which is the same in every format
/// version; `None` for the current version and for lines of other programs.
pub fn wrong_version_of_line(line: &[u8]) -> Option<String> {
    let digits = line.strip_prefix(LINE_START)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok().and_then(wrong_version)
}
