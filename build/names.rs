//! How names of the contract are spelt elsewhere.

/// `GetScreen` → `get_screen`.
pub fn snake_case(camel: &str) -> String {
    let mut out = String::new();
    for c in camel.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `screen_get` → `ScreenGet`.
pub fn upper_camel_case(snake: &str) -> String {
    snake.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

/// The word that stands for an enum's value: its name without the enum's own, in lower case.
pub fn word(enum_name: &str, value_name: &str) -> String {
    let value = value_name.to_ascii_lowercase();
    match value.strip_prefix(&snake_case(enum_name)).and_then(|v| v.strip_prefix('_')) {
        Some(bare) => bare.to_owned(),
        None => value,
    }
}
