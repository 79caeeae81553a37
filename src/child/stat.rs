//! One line of `/proc/PID/stat`: which parent, group and session a process has, and when it began.

/// When a process began, in clock ticks since boot. Together with its id it names a process for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Born(u64);

impl Born {
    pub fn ticks(self) -> u64 {
        self.0
    }
}

/// What we need to know of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// The group that its terminal gives keys and signals to; -1 without a terminal.
    pub foreground: i32,
    pub born: Born,
    /// Whether it still runs; a zombie only waits to be reaped and can not be signalled away.
    pub alive: bool,
}

impl Stat {
    /// Reads the stat of a process, if it exists and `/proc` is there.
    pub fn of(pid: i32) -> Option<Self> {
        Self::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses `PID (NAME) STATE PPID GROUP SESSION …`. The name is any bytes the program likes, with parentheses
    /// and line ends among them, but nothing after it holds a `)`.
    fn parse(line: &[u8]) -> Option<Self> {
        let after_name = line.iter().rposition(|byte| *byte == b')')? + 1;
        let fields: Vec<&str> = std::str::from_utf8(&line[after_name..]).ok()?.split_ascii_whitespace().collect();
        // The numbers of proc(5) count from 1 and include the id and the name.
        let field = |number: usize| fields.get(number - 3).copied();
        let threads: i64 = field(20)?.parse().ok()?;
        let ended = matches!(field(3)?, "Z" | "X" | "x");
        Some(Self {
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            foreground: field(8)?.parse().ok()?,
            born: Born(field(22)?.parse().ok()?),
            // A process whose first thread has ended looks like a zombie while its other threads run.
            alive: !ended || threads > 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, state: &str, threads: u32) -> Vec<u8> {
        format!("41 ({name}) {state} 1 42 43 34816 42 4194304 9 0 0 0 1 2 3 4 20 0 {threads} 0 777 1000 2 3\n").into()
    }

    #[test]
    fn a_name_with_parentheses_and_line_ends_confuses_nothing() {
        for name in ["sh", "", ")", "a) Z 1 2 3 (b", "((", "x\n) R 9 9 9"] {
            let stat = Stat::parse(&line(name, "S", 1)).unwrap();
            let expected = Stat { parent: 1, group: 42, session: 43, foreground: 42, born: Born(777), alive: true };
            assert_eq!(stat, expected, "{name:?}");
        }
        let mut bytes = line("name", "S", 1);
        bytes[5] = 0xff;
        assert!(Stat::parse(&bytes).is_some(), "names need not be UTF-8");
    }

    #[test]
    fn a_zombie_is_not_alive_unless_other_threads_run() {
        assert!(!Stat::parse(&line("sh", "Z", 1)).unwrap().alive);
        assert!(Stat::parse(&line("sh", "Z", 3)).unwrap().alive);
        assert!(Stat::parse(&line("sh", "T", 1)).unwrap().alive);
    }

    #[test]
    fn half_a_line_is_no_stat() {
        for bytes in [&b""[..], b"41", b"41 (sh", b"41 (sh) S 1 2", b") ) )", b"41 (sh) S x y z"] {
            assert_eq!(Stat::parse(bytes), None);
        }
    }
}
