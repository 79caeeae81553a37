//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use super::CodexCli;
use crate::promises::keeps;

keeps!(CodexCli: resume {
    the_latest_conversation_goes_on,
    a_conversation_goes_on_by_its_name,
    a_conversation_goes_on_by_its_log,
    a_conversation_goes_on_by_its_workspace,
    a_conversation_goes_on_where_the_agents_files_lie_elsewhere,
    what_does_not_exist_cannot_go_on,
    a_restart_goes_on_with_the_conversation_when_asked,
    a_restart_without_asking_begins_anew,
    a_restart_with_its_files_elsewhere_is_followed_there,
    a_restart_before_the_first_message_begins_anew_though_asked_to_go_on,
    transcripts_are_numbered_on,
});
