//! `coop completions`: what a shell needs to complete words for coop.

use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::Shell;

use super::words::print_bytes;

/// Print the completions for a shell
#[derive(Args, Debug)]
#[command(after_help = "Example:
  coop completions bash > ~/.local/share/bash-completion/completions/coop
  coop completions zsh  > ~/.zfunc/_coop          # with fpath+=~/.zfunc before compinit
  coop completions fish > ~/.config/fish/completions/coop.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = shell())]
    shell: Shell,
}

impl Completions {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::whole_command(), "coop", &mut script);
        print_bytes(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Those that people of this machine may have.
fn shell() -> impl TypedValueParser<Value = Shell> {
    PossibleValuesParser::new(["bash", "zsh", "fish"]).try_map(|word| word.parse::<Shell>())
}
