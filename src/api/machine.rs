//! What coop itself takes of the machine, as the kernel counts it. Nothing where there is no `/proc`.

use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

/// What the process takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    pub cpu: Duration,
    pub resident_bytes: u64,
    pub virtual_bytes: u64,
    pub threads: u64,
    pub open_fds: u64,
}

/// Reads the present values; `None` where the kernel does not tell them.
pub fn taken() -> Option<Taken> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let open_fds = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    let constant = |var| sysconf(var).ok().flatten().and_then(|value| u64::try_from(value).ok());
    of_stat(&stat, constant(SysconfVar::CLK_TCK)?, constant(SysconfVar::PAGE_SIZE)?, open_fds)
}

/// The largest number of descriptors that may be open.
pub fn max_fds() -> Option<u64> {
    nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft)
}

/// The line of proc(5); the program's name, in brackets, may hold anything.
fn of_stat(stat: &str, ticks_per_second: u64, page_bytes: u64, open_fds: u64) -> Option<Taken> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // The third field of the line is the first here.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = field(14)? + field(15)?;
    Some(Taken {
        cpu: Duration::from_micros(ticks * 1_000_000 / ticks_per_second.max(1)),
        threads: field(20)?,
        virtual_bytes: field(23)?,
        resident_bytes: field(24)? * page_bytes,
        open_fds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_program_is_called() {
        let line = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 9 0 5 4096000 250 18446744073709551615 1";
        let taken = of_stat(line, 100, 4096, 12).unwrap();
        let expected = Taken {
            cpu: Duration::from_secs(2),
            resident_bytes: 250 * 4096,
            virtual_bytes: 4_096_000,
            threads: 9,
            open_fds: 12,
        };
        assert_eq!(taken, expected);
        assert_eq!(of_stat("7 (x) S 1", 100, 4096, 0), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_takes_something() {
        let taken = taken().unwrap();
        assert!(taken.resident_bytes > 0 && taken.threads > 0 && taken.open_fds > 2, "{taken:?}");
        assert!(max_fds().unwrap() >= taken.open_fds);
    }
}
