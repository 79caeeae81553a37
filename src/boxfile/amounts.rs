//! Amounts as people write them.

/// The letters of sizes and how far each shifts. K is 1024, as memory is counted.
const UNITS: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// Bytes, from `4G`, `512MiB`, `1.5 GB` or `1048576`.
pub fn bytes(text: &str) -> Option<u64> {
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let unit = UNITS.iter().find_map(|(letter, shift)| Some((bare.strip_suffix(*letter)?, *shift)));
    let (digits, shift) = unit.unwrap_or((bare, 0));
    let (whole, fraction) = digits.trim().split_once('.').unwrap_or((digits.trim(), "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than these would be less than a byte of a terabyte.
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 12 || (shift == 0 && digits.contains('.')) {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let parts = whole.parse::<u128>().ok()?.checked_mul(scale)?.checked_add(fraction.parse().ok()?)?;
    u64::try_from(parts.checked_mul(1 << shift)? / scale).ok()
}

/// Bytes as people read them: `4G` if that is exact, else with one decimal.
pub fn shown_bytes(bytes: u64) -> String {
    let unit = UNITS.iter().rev().find(|(_, shift)| bytes >= 1 << shift);
    let Some((letter, shift)) = unit else { return bytes.to_string() };
    let (whole, rest) = (bytes >> shift, bytes & ((1 << shift) - 1));
    let tenths = (u128::from(rest) * 10) >> shift;
    if tenths == 0 { format!("{whole}{letter}") } else { format!("{whole}.{tenths}{letter}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let table =
            [("4G", 4 << 30), ("512MiB", 512 << 20), ("1.5 GB", 3 << 29), ("64k", 64 << 10), ("1048576", 1 << 20)];
        for (text, amount) in table {
            assert_eq!(bytes(text), Some(amount), "{text}");
        }
        for bad in [
            "",
            "G",
            "-1G",
            "4 X",
            "1.5",
            "1..5G",
            ".5G",
            "1.G",
            "4GG",
            "99999999999T",
            "1e3",
            "4é",
            "0.1234567890123G",
        ] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_are_told_shortly() {
        assert_eq!((shown_bytes(4 << 30).as_str(), shown_bytes(3 << 29).as_str()), ("4G", "1.5G"));
        assert_eq!((shown_bytes(1000).as_str(), shown_bytes(u64::MAX).as_str()), ("1000", "16777215.9T"));
    }
}
