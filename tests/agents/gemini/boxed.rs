//! In a box it does its work as outside, and reaches nothing that the box keeps from it.

use super::GeminiCli;
use crate::promises::keeps;

keeps!(GeminiCli: boxed { it_does_its_work_in_a_box, a_box_keeps_files_and_hosts_from_its_agent });
