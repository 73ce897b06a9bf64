//! The checksums in the line that begins a translation, by which TLC tells that a module was changed by hand.

use super::ast::Algorithm;
use super::fingerprint::describe;

/// CRC-32 as in zip files.
fn crc32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    !bytes.into_iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 })
    })
}

/// The checksum of an algorithm. For one that is `--fair` it does not depend on anything else.
pub(super) fn of_algorithm(algorithm: &Algorithm) -> String {
    let text = if algorithm.fair { "fair".to_owned() } else { describe(algorithm) };
    format!("{:x}", crc32(text.bytes()))
}

/// The checksum of the lines of a translation.
pub(super) fn of_lines(lines: &[String]) -> String {
    format!("{:x}", crc32(lines.iter().flat_map(|line| line.bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_published_check_value() {
        assert_eq!(crc32(*b"123456789"), 0xCBF4_3926);
        assert_eq!(of_lines(&["1234".into(), "56789".into()]), "cbf43926");
    }
}
