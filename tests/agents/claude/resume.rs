//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use super::ClaudeCode;
use crate::promises::keeps;

keeps!(ClaudeCode: resume {
    the_latest_conversation_goes_on,
    a_conversation_goes_on_by_its_name,
    a_conversation_goes_on_by_its_log,
    a_conversation_goes_on_by_its_workspace,
    a_conversation_goes_on_where_the_agents_files_lie_elsewhere,
    what_does_not_exist_cannot_go_on,
    a_restart_goes_on_with_the_conversation_when_asked,
    a_restart_without_asking_begins_anew,
    transcripts_are_numbered_on,
});
