//! Names of boxes and volumes: `[a-z0-9][a-z0-9._-]{0,39}`.

use std::path::Path;

/// Names become parts of socket paths, which have little room.
pub const NAME_BYTES_MAX: usize = 40;

/// What a name may be, for errors.
pub const NAME_RULE: &str = "small letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 40";

pub fn is_name(text: &str) -> bool {
    let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    begins_well && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte)
}

/// The name of a box for a project in this directory: the directory's, made valid.
pub fn name_of_directory(dir: &Path) -> String {
    let base = dir.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let replaced: String =
        base.chars().map(|c| if u8::try_from(c).is_ok_and(is_name_byte) { c } else { '-' }).collect();
    let trimmed = replaced.trim_start_matches(['.', '_', '-']);
    let cut = &trimmed[..trimmed.len().min(NAME_BYTES_MAX)];
    let name = cut.trim_end_matches(['.', '_', '-']);
    if name.is_empty() { "box".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_into_paths() {
        for good in ["a", "0", "my-app.v2_x", &"x".repeat(40)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "..", "-a", "_a", "A", "a/b", "a b", "é", "a\n", &"x".repeat(41)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn every_directory_has_a_name_for_its_box() {
        let table = [
            ("/home/me/My App", "my-app"),
            ("/x/.config", "config"),
            ("/", "box"),
            ("/x/日本", "box"),
            ("/x/..", "box"),
            ("/x/a--", "a"),
            ("/x/ÄB", "b"),
        ];
        for (dir, name) in table {
            assert_eq!(name_of_directory(Path::new(dir)), name, "{dir}");
            assert!(is_name(name));
        }
        assert!(is_name(&name_of_directory(Path::new(&format!("/{}-", "x.".repeat(90))))));
    }
}
