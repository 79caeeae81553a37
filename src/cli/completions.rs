//! `coop completions`: what a shell needs to complete words for coop.
//!
//! clap knows verbs, flags and values. Names of sessions and boxes are another's to tell: `coop names`, which the scripts
//! call where an argument has the hint [`NAME`].

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueHint};
use clap::{Args, Command};
use clap_complete::Shell;

use super::words::print_bytes;

/// Marks an argument that names a session or a box. It is the hint for users of the machine, whom no verb asks for: where
/// the scripts would list those, they list names.
pub const NAME: ValueHint = ValueHint::Username;

/// Print the completions for a shell
///
/// Where a session or a box is to be named, those that there are are offered.
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
        let mut command = super::whole_command();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "coop", &mut script);
        let script = String::from_utf8(script)?;
        let script = match self.shell {
            Shell::Bash => bash(&script, &command),
            Shell::Zsh => zsh(&script),
            Shell::Fish => fish(&script, &command),
            _ => script,
        };
        print_bytes(script.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Those that people of this machine may have.
fn shell() -> impl TypedValueParser<Value = Shell> {
    PossibleValuesParser::new(["bash", "zsh", "fish"]).try_map(|word| word.parse::<Shell>())
}

/// The verbs that take a name without a flag.
fn naming(command: &Command) -> Vec<&str> {
    let names = |verb: &&Command| verb.get_positionals().any(|arg| arg.get_value_hint() == NAME);
    command.get_subcommands().filter(names).map(Command::get_name).collect()
}

/// Bash asks for everything by one function, which is asked first. Not by `compgen -W`, which would expand what it is given.
fn bash(script: &str, command: &Command) -> String {
    let verbs = naming(command).join("|");
    let names = format!(
        r#"
_coop_or_name() {{
    _coop "$@"
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" name
    [[ $cur == -* ]] && return
    case $prev in
        -s|--session) COMPREPLY=() ;;
        {verbs}) [[ $COMP_CWORD -eq 2 ]] || return; COMPREPLY=() ;;
        *) return ;;
    esac
    while IFS= read -r name; do
        [[ $name == "$cur"* ]] && COMPREPLY+=("$name")
    done < <(coop names 2>/dev/null)
}}

if [["#
    );
    // What is last in the script, and once.
    let (before, after) = script.rsplit_once("\nif [[").unwrap_or((script, ""));
    format!("{before}{names}{}", after.replace("complete -F _coop ", "complete -F _coop_or_name "))
}

fn zsh(script: &str) -> String {
    let names = "\n_coop_names() {\n    local -a names\n    names=(${(f)\"$(coop names 2>/dev/null)\"})\n    compadd -a names\n}\n";
    let (head, rest) = script.split_once('\n').unwrap_or((script, ""));
    format!("{head}\n{names}{}", rest.replace(":_users", ":_coop_names"))
}

/// Fish is told nothing of arguments without a flag.
fn fish(script: &str, command: &Command) -> String {
    let names = "(coop names 2>/dev/null)";
    let mut script = script.replace("(__fish_complete_users)", names);
    for verb in naming(command) {
        let here = format!("__fish_coop_using_subcommand {verb}; and __fish_is_nth_token 2");
        script.push_str(&format!("complete -c coop -n \"{here}\" -f -a \"{names}\"\n"));
    }
    script
}
