//! The checksums in the line that begins a translation, by which TLC detects that the algorithm or the translation was
//! changed without translating again.

use super::algorithm_record::algorithm_record;
use super::ast::Algorithm;

/// CRC-32 as used in zip files.
fn crc32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    !bytes.into_iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 })
    })
}

/// The checksum of an algorithm. As in the reference, every `--fair` algorithm has the same one.
pub(super) fn algorithm_checksum(algorithm: &Algorithm) -> String {
    let text = if algorithm.fair { "fair".to_owned() } else { algorithm_record(algorithm) };
    format!("{:x}", crc32(text.bytes()))
}

/// The checksum of the lines of a translation.
pub(super) fn translation_checksum(lines: &[String]) -> String {
    format!("{:x}", crc32(lines.iter().flat_map(|line| line.bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_has_the_published_check_value() {
        assert_eq!(crc32(*b"123456789"), 0xCBF4_3926);
        assert_eq!(translation_checksum(&["1234".into(), "56789".into()]), "cbf43926");
    }
}
