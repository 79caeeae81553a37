//! The word that somebody probably meant.

/// The nearest of the known words, if it is near enough to be a slip of the fingers.
pub fn nearest<'a>(meant: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace('-', "_");
    let meant = plain(meant);
    let count = meant.chars().count();
    // Long ones are no slips, and comparing them would take its time.
    if count > 40 {
        return None;
    }
    let distances = known.into_iter().map(|word| (distance(&meant, &plain(word)), word));
    let (steps, word) = distances.min_by_key(|(steps, _)| *steps)?;
    let is_part = meant.len() >= 3 && (word.starts_with(&meant) || meant.starts_with(word));
    (steps <= (count / 3).clamp(1, 3) || is_part).then_some(word)
}

/// How many letters must be changed, added, left out or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["image", "agent", "mounts", "open_files"];
        let table = [
            ("imge", "image"),
            ("Image", "image"),
            ("agnet", "agent"),
            ("mount", "mounts"),
            ("open-files", "open_files"),
        ];
        for (meant, word) in table {
            assert_eq!(nearest(meant, known), Some(word), "{meant}");
        }
        for strange in ["", "docker", "x", &"image".repeat(2000)] {
            assert_eq!(nearest(strange, known), None, "{strange}");
        }
    }
}
