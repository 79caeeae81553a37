//! `coop man`: the manual, in the form that `man` reads.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man as Page;

use super::words::{print_bytes, print_line};

/// Print the manual page
///
/// One page has it all: flags, then each verb. With --dir, a page for coop and one for each verb, as packages have them.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  coop man | man -l -
  coop man --dir ~/.local/share/man/man1 && man coop-wait")]
pub struct Man {
    /// Write the pages into this directory, and print their names
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let command = super::whole_command();
        let Some(dir) = &self.dir else {
            print_bytes(&whole(&command)?)?;
            return Ok(ExitCode::SUCCESS);
        };
        std::fs::create_dir_all(dir).with_context(|| format!("--dir {}", dir.display()))?;
        let mut pages = vec![("coop".to_owned(), render(&command)?)];
        for verb in verbs(&command) {
            let name = format!("coop-{}", verb.get_name());
            let bin_name = format!("coop {}", verb.get_name());
            let verb = verb.clone().display_name(name.clone()).bin_name(bin_name);
            pages.push((name, render(&verb)?));
        }
        for (name, page) in pages {
            let path = dir.join(format!("{name}.1"));
            std::fs::write(&path, page).with_context(|| path.display().to_string())?;
            print_line(&path.display().to_string())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

fn render(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page)?;
    Ok(in_ascii(page))
}

/// Old troffs know no other letters.
fn in_ascii(page: Vec<u8>) -> Vec<u8> {
    String::from_utf8_lossy(&page).replace('…', "...").into_bytes()
}

/// All of it on one page: coop itself, then a section for each verb.
fn whole(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = render(command)?;
    for verb in verbs(command) {
        section(verb, "coop", &mut page)?;
    }
    Ok(page)
}

/// A verb, and then those below it.
fn section(verb: &Command, above: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let name = format!("{above} {}", verb.get_name());
    let manual = Page::new(verb.clone().bin_name(name.clone()));
    let mut text = Vec::new();
    manual.render_synopsis_section(&mut text)?;
    manual.render_description_section(&mut text)?;
    manual.render_options_section(&mut text)?;
    manual.render_extra_section(&mut text)?;
    writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
    // Within the section of a verb, its own are subsections.
    let text = String::from_utf8_lossy(&in_ascii(text)).replace("\n.SH ", "\n.SS ");
    page.write_all(text.as_bytes())?;
    for below in verbs(verb) {
        section(below, &name, page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As troff writes it, in which a hyphen and a dash are told apart.
    fn escaped(text: &str) -> String {
        text.replace('-', "\\-")
    }

    #[test]
    fn the_manual_has_every_verb_and_every_flag_and_says_what_it_does() {
        let command = super::super::whole_command();
        let page = String::from_utf8(whole(&command).unwrap()).unwrap();
        assert!(page.is_ascii());
        let flags = |command: &Command| -> Vec<String> {
            command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned).collect()
        };
        for verb in verbs(&command) {
            let heading = format!(".SH \"COOP {}\"", verb.get_name().to_uppercase());
            let (_, rest) = page.split_once(&heading).unwrap_or_else(|| panic!("{heading}"));
            let section = rest.split("\n.SH \"COOP").next().unwrap();
            for flag in flags(verb) {
                assert!(section.contains(&escaped(&format!("--{flag}"))), "{heading}: {flag}");
            }
        }
        for flag in flags(&command) {
            let shown = format!("\\fB{}\\fR", escaped(&format!("--{flag}")));
            let (_, rest) = page.split_once(&shown).unwrap_or_else(|| panic!("{flag}"));
            let help = rest.lines().nth(1).unwrap_or_default();
            assert!(!help.is_empty() && !help.starts_with('.'), "{flag} is not explained: {help}");
        }
    }
}
