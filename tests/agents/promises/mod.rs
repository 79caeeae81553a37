//! What every agent promises, one file for each kind of promise.
//!
//! A promise is a function that is generic over the agent; the facts in which agents differ are its [`Kept`]. An agent's own
//! folder says which of them it keeps, and has beside them what only this agent promises:
//!
//! ```text
//! keeps!(ClaudeCode: nudges { a_message_arrives_as_it_was_given, decomposed_characters_arrive });
//! ```

pub mod boxed;
pub mod degraded;
pub mod gates;
mod kept;
pub mod noise;
pub mod nudges;
pub mod refusals;
pub mod resume;
pub mod rounds;
pub mod transcripts;

pub use kept::Kept;

use crate::model::Question;
use crate::session::Session;

/// Makes a test of each of these promises, with its name, for one agent.
macro_rules! keeps {
    ($agent:ident: $kind:ident { $($promise:ident),+ $(,)? }) => {
        $(
            #[tokio::test]
            async fn $promise() {
                $crate::promises::$kind::$promise::<$agent>().await;
            }
        )+
    };
}
pub(crate) use keeps;

/// Waits for what comes after a refusal.
async fn after_a_refusal<A: Kept>(agent: &Session<A>) {
    match A::REFUSAL_ENDS_THE_TURN {
        true => agent.goes(["idle"]).await,
        false => agent.goes(["working", "idle"]).await,
    }
}

/// Asks for a database, three to choose from.
pub fn which_database() -> Question {
    Question::one("Which database should we use?", "Database", &["PostgreSQL", "SQLite", "MySQL"])
}

/// Asks for a language, two to choose from.
pub fn which_language() -> Question {
    Question::one("Which language?", "Language", &["Rust", "Go"])
}

/// Asks for features, of which several can be chosen.
pub fn which_features() -> Question {
    Question::several("Which features do you want?", "Features", &["Auth", "Search", "Export"])
}
