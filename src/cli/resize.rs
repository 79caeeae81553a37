//! `coop resize`: another size for the terminal.

use std::process::ExitCode;

use clap::Args;

use super::reach::Reach;
use super::words::{print_json, print_line};
use crate::proto::v1::ResizeRequest;

/// Change the size of the terminal
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop resize 120x40\n  coop resize \"$(tput cols)x$(tput lines)\"")]
pub struct Resize {
    /// Columns and rows, such as 120x40
    #[arg(value_name = "COLSxROWS", value_parser = size)]
    size: (u32, u32),
    #[command(flatten)]
    reach: Reach,
}

impl Resize {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let (cols, rows) = self.size;
        let answer = client.answer(client.calls().resize(ResizeRequest { cols, rows })).await?;
        if self.reach.json {
            print_json(&answer)?
        } else {
            print_line(&format!("{}x{}", answer.cols, answer.rows))?
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X']).and_then(|(cols, rows)| cols.parse().ok().zip(rows.parse().ok()));
    sides.ok_or_else(|| "use COLSxROWS, such as 120x40".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_two_numbers() {
        assert_eq!(size("120x40"), Ok((120, 40)));
        for bad in ["", "120", "x", "120x", "120x-1", "120 x 40"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
