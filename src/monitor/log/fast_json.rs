//! A fast JSON reader for one record: it skips values that are not wanted, scanning texts eight bytes at a time.
//!
//! Whatever it reads, `serde_json` reads the same. It gives up on anything unusual, such as deep nesting, and on every
//! error; the caller then reads the record with `serde_json`, which also describes the error.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Maximum nesting of lists and objects: `skip` keeps one bit of a `u64` for each.
const MAX_DEPTH: u32 = 64;

/// Returned for anything unusual; the caller reads the record again with `serde_json`.
#[derive(Debug)]
pub(super) struct GivenUp;

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not read")
    }
}

impl std::error::Error for GivenUp {}

impl serde::de::Error for GivenUp {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Read<T> = Result<T, GivenUp>;

/// A record, and the position up to which it is read.
pub(super) struct Reader<'de> {
    text: &'de [u8],
    position: usize,
    depth: u32,
}

impl<'de> Reader<'de> {
    pub(super) fn new(text: &'de [u8]) -> Self {
        Self { text, position: 0, depth: 0 }
    }

    /// The next byte that is not white space, without consuming it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.position) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.position += 1,
                other => return other.copied(),
            }
        }
    }

    /// Succeeds if only white space is left.
    pub(super) fn end(&mut self) -> Read<()> {
        if self.peek().is_none() { Ok(()) } else { Err(GivenUp) }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.peek() != Some(byte) {
            return Err(GivenUp);
        }
        self.position += 1;
        Ok(())
    }

    #[inline]
    fn keyword(&mut self, word: &[u8]) -> Read<()> {
        if !self.text[self.position..].starts_with(word) {
            return Err(GivenUp);
        }
        self.position += word.len();
        Ok(())
    }

    /// Consumes a text; returns the bytes between its quotes, and whether they have escapes.
    #[inline]
    fn string(&mut self) -> Read<(&'de [u8], bool)> {
        let from = self.position + 1;
        let mut at = from;
        let mut escapes = false;
        loop {
            at = find_special(self.text, at);
            match self.text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escapes = true;
                    at += match self.text.get(at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') => {
                            let digits = self.text.get(at + 2..at + 6).ok_or(GivenUp)?;
                            if !digits.iter().all(u8::is_ascii_hexdigit) {
                                return Err(GivenUp);
                            }
                            6
                        }
                        _ => return Err(GivenUp),
                    };
                }
                _ => return Err(GivenUp),
            }
        }
        self.position = at + 1;
        Ok((&self.text[from..at], escapes))
    }

    fn digits(&mut self) -> Read<()> {
        let from = self.position;
        while self.text.get(self.position).is_some_and(u8::is_ascii_digit) {
            self.position += 1;
        }
        if self.position > from { Ok(()) } else { Err(GivenUp) }
    }

    /// Consumes a number; returns whether it is an integer.
    fn number(&mut self) -> Read<bool> {
        if self.text[self.position] == b'-' {
            self.position += 1;
        }
        let first = self.position;
        self.digits()?;
        if self.text[first] == b'0' && self.position > first + 1 {
            return Err(GivenUp);
        }
        let mut integer = true;
        if self.text.get(self.position) == Some(&b'.') {
            integer = false;
            self.position += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.position) {
            integer = false;
            self.position += 1;
            if let Some(b'+' | b'-') = self.text.get(self.position) {
                self.position += 1;
            }
            self.digits()?;
        }
        Ok(integer)
    }

    /// Consumes a value.
    fn skip(&mut self) -> Read<()> {
        // One bit for each list (0) or object (1) that is open.
        let (mut open, mut depth) = (0_u64, 0);
        loop {
            match self.peek().ok_or(GivenUp)? {
                b'"' => _ = self.string()?,
                b'-' | b'0'..=b'9' => _ = self.number()?,
                b't' => self.keyword(b"true")?,
                b'f' => self.keyword(b"false")?,
                b'n' => self.keyword(b"null")?,
                opening @ (b'[' | b'{') => {
                    if depth == MAX_DEPTH {
                        return Err(GivenUp);
                    }
                    self.position += 1;
                    let object = opening == b'{';
                    open = open << 1 | u64::from(object);
                    depth += 1;
                    match self.peek() {
                        Some(b'}') if object => {}
                        Some(b']') if !object => {}
                        _ if object => {
                            self.skip_key()?;
                            continue;
                        }
                        _ => continue,
                    }
                }
                _ => return Err(GivenUp),
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let object = open & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.position += 1;
                        if object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    _ => return Err(GivenUp),
                }
                self.position += 1;
                open >>= 1;
                depth -= 1;
            }
        }
    }

    #[inline]
    fn skip_key(&mut self) -> Read<()> {
        if self.peek() != Some(b'"') {
            return Err(GivenUp);
        }
        self.string()?;
        self.expect(b':')
    }

    /// Reads the bytes between two positions with `serde_json`.
    fn read_with_serde_json<V: Visitor<'de>>(&self, from: usize, to: usize, visitor: V) -> Read<V::Value> {
        let mut reader = serde_json::Deserializer::from_slice(&self.text[from..to]);
        let value = reader.deserialize_any(visitor).map_err(|_| GivenUp)?;
        reader.end().map_err(|_| GivenUp)?;
        Ok(value)
    }

    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Read<V::Value> {
        let from = self.position;
        let (inner, escapes) = self.string()?;
        if escapes {
            return self.read_with_serde_json(from, self.position, visitor);
        }
        visitor.visit_borrowed_str(std::str::from_utf8(inner).map_err(|_| GivenUp)?)
    }

    fn nested<T>(&mut self, closing: u8, visit: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return Err(GivenUp);
        }
        self.position += 1;
        self.depth += 1;
        let value = visit(self)?;
        self.depth -= 1;
        self.expect(closing)?;
        Ok(value)
    }
}

/// The position of the first quote, backslash or control character, from `at` on.
#[inline]
fn find_special(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte below `limit` is set. A borrow can set it wrongly, but only above a true hit, and only the
    // lowest hit counts.
    let bytes_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*eight);
        let quote = bytes_below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = bytes_below(word ^ (ONES * u64::from(b'\\')), 1);
        let hits = (quote | backslash | bytes_below(word, 0x20)) & HIGH;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while text.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | ..0x20)) {
        at += 1;
    }
    at
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = GivenUp;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        match self.peek().ok_or(GivenUp)? {
            b'"' => self.text(visitor),
            b'-' | b'0'..=b'9' => {
                let from = self.position;
                let integer = self.number()?;
                // A number of fewer than 18 digits fits into 64 bits.
                let short = integer && self.position - from < 18;
                match std::str::from_utf8(&self.text[from..self.position]).ok().and_then(|t| t.parse().ok()) {
                    Some(number) if short && self.text[from] != b'-' => visitor.visit_u64(number),
                    _ => self.read_with_serde_json(from, self.position, visitor),
                }
            }
            b't' => self.keyword(b"true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.keyword(b"false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.keyword(b"null").and_then(|()| visitor.visit_unit()),
            b'[' => self.nested(b']', |reader| visitor.visit_seq(Items { reader, first: true })),
            b'{' => self.nested(b'}', |reader| visitor.visit_map(Items { reader, first: true })),
            _ => Err(GivenUp),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if self.peek() == Some(b'n') {
            return self.keyword(b"null").and_then(|()| visitor.visit_none());
        }
        visitor.visit_some(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier
    }
}

/// The elements of a list or an object.
struct Items<'r, 'de> {
    reader: &'r mut Reader<'de>,
    first: bool,
}

impl Items<'_, '_> {
    /// Whether another element follows; consumes the comma before it. A trailing comma is an error, because the caller
    /// then reads an element.
    #[inline]
    fn has_next(&mut self, closing: u8) -> Read<bool> {
        if self.reader.peek() == Some(closing) {
            return Ok(false);
        }
        if !std::mem::take(&mut self.first) {
            self.reader.expect(b',')?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = GivenUp;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Read<Option<T::Value>> {
        if self.has_next(b']')? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = GivenUp;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        if self.has_next(b'}')? { seed.deserialize(Key(&mut *self.reader)).map(Some) } else { Ok(None) }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Read<V::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// A key: always a text, and checked in full even if the visitor ignores it.
struct Key<'r, 'de>(&'r mut Reader<'de>);

impl<'de> Deserializer<'de> for Key<'_, 'de> {
    type Error = GivenUp;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if self.0.peek() == Some(b'"') { self.0.text(visitor) } else { Err(GivenUp) }
    }

    /// Identifiers are compared with known names, so bytes are enough.
    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if self.0.peek() != Some(b'"') {
            return Err(GivenUp);
        }
        let from = self.0.position;
        let (inner, escapes) = self.0.string()?;
        if escapes {
            return self.0.read_with_serde_json(from, self.0.position, visitor);
        }
        if !inner.is_ascii() && std::str::from_utf8(inner).is_err() {
            return Err(GivenUp);
        }
        visitor.visit_borrowed_bytes(inner)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum ignored_any
    }
}
