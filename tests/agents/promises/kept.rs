//! The facts in which agents differ, as far as the promises that all of them keep need them.

use std::path::PathBuf;

use crate::model::{Script, ToolResult};
use crate::session::{Agent, House, Options, Session};

/// An agent about which coop keeps the promises of this folder.
pub trait Kept: Agent {
    // What it is told.

    /// The command that ends it.
    const LEAVE: &str;

    /// Messages that look like its commands.
    const LIKE_COMMANDS: &[&str];

    /// What the model gets for a message that looks like a command: something stands before it, so that it is none.
    fn guarded(message: &str) -> String;

    /// Further messages that need care in its input box.
    const MESSAGES: &[&str] = &[];

    /// Several lines, as they are typed into its input box without being sent.
    const TYPED_LINES: &str = "several\nlines\nleft over";

    /// The keys that take a message back from its queue.
    const TAKE_BACK: &[&str] = &["up"];

    /// What it shows while messages wait in its queue.
    const SHOWS_QUEUE: &str;

    // What it does.

    /// Whether its conversation has no name before the first message.
    const BEGINS_WITH_A_MESSAGE: bool = false;

    /// Whether a conversation that was named and never begun can be begun under the same name later.
    const KEEPS_ITS_NAME_UNUSED: bool = false;

    /// Whether its turn is over when the user refuses something; else the model is told and goes on.
    const REFUSAL_ENDS_THE_TURN: bool;

    /// Whether a refusal can say why.
    const REFUSES_WITH_WORDS: bool = true;

    /// Whether its terminal is silent while it asks for a permission.
    const SILENT_WHILE_ASKING: bool = true;

    /// Whether its terminal can be silent for a while before its turn is over.
    const SILENT_BEFORE_THE_END: bool = false;

    /// The model runs a command.
    fn runs(script: Script, command: &str) -> Script {
        script.bash(command)
    }

    /// Commands with these beginnings run without a question.
    fn unasked(options: Options<Self>, commands: &[&str]) -> Options<Self>;

    /// How a command went, in the words that the model gets for it.
    fn exit_code(result: &ToolResult) -> i32;

    /// How its commands call coop.
    fn coop() -> String {
        "coop".to_owned()
    }

    /// May ask questions at any time.
    fn asking(options: Options<Self>) -> Options<Self> {
        options
    }

    /// Waits until a question can be answered, whoever tells of it.
    async fn asked(agent: &Session<Self>) {
        agent.prompt("question").await;
    }

    /// In which words the model gets an option that was chosen.
    fn chosen(label: &str) -> String {
        label.to_owned()
    }

    /// Is told this message, makes a plan and may carry it out; all that the model must have heard by then.
    async fn plans(agent: &Session<Self>, message: &str) -> Vec<String>;

    /// How many random rounds are played when nobody says it.
    const ROUNDS: u64;

    // What it tells.

    /// The events of its hooks that would be believed: a turn ends, something is asked, a message came, a tool is used.
    const HOOKS: [&str; 4];

    /// An event that comes with every piece of an answer, and the field with the piece.
    const CHATTER: (&str, &str);

    /// Without hooks.
    fn ungroomed(options: Options<Self>) -> Options<Self> {
        options.groom("pristine")
    }

    /// Whether its log has lines before the first message.
    const LOGS_ITS_START: bool = false;

    /// Whether its log says what was written into the cache.
    const COUNTS_CACHE_WRITES: bool = false;

    // Where its files lie.

    /// The variable that names the place of its files.
    const HOME_VARIABLE: &str;

    /// What was seeded: its place in the home, and its place below [`Kept::HOME_VARIABLE`].
    const SEEDED: &[(&str, &str)];

    /// The logs of all conversations.
    fn logs(house: &House<Self>) -> Vec<PathBuf>;
}
