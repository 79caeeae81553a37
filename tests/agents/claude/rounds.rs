//! Random rounds: whatever is done in whatever order, what is said to be delivered is what the model got.

use super::ClaudeCode;
use crate::promises::keeps;

keeps!(ClaudeCode: rounds {
    what_is_said_to_be_delivered_is_what_the_model_got,
});
