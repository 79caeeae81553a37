use crate::agent::Sight;
use crate::agent::look::*;
use crate::agent::rules::{Rules, RulesError};
use crate::session::{Prompt, PromptKind};
use regex::Regex;
use serde_json::Value;
pub fn rules(c: Option<&Value>) -> Result<Rules, RulesError> {
    Rules::read(include_str!("../claude/rules.json"), c)
}
pub fn look(_: &Rules, sight: Sight<'_>) -> Look {
    let rows = sight.rows;
    let mut look = Look::default();
    look.working = rows.iter().any(|r| r.contains("(esc to cancel"));
    if rows.iter().any(|r| r.contains("is restarting to apply")) {
        return look;
    }
    let opt = Regex::new(r"^[│ ]*(●)?\s*([0-9])\.\s+(\[.\] )?(.*?)[│ ]*$").unwrap();
    let mark =
        rows.iter().rposition(|r| r.contains("● ") && opt.is_match(r) || r.contains("● Done") || r.contains("●  Done"));
    let review = rows.iter().rposition(|r| r.contains("Enter to submit"));
    let boxrow = rows.iter().rposition(|r| r.starts_with(" > ") || r.starts_with(" ! ") || r.starts_with(" * "));
    let start = rows.iter().rposition(|r| r.trim_start().starts_with('╭')).unwrap_or(0);
    if let Some(m) = mark.or(review).filter(|m| boxrow.is_none_or(|b| b < *m)) {
        let start = if start < m { start } else { m.saturating_sub(12) };
        let all: Vec<String> = rows[start..].iter().filter(|r| !r.trim().is_empty()).cloned().collect();
        let text = all.join("\n");
        let options: Vec<String> =
            rows[start..].iter().filter_map(|r| opt.captures(r)).map(|c| c[4].trim().to_owned()).collect();
        let (kind, sub) = match () {
            () if text.contains("Allow execution of") => (PromptKind::Permission, Some("command")),
            () if text.contains("Apply this change?") => (PromptKind::Permission, Some("edit")),
            () if text.contains("Ready to start impl") => (PromptKind::Plan, None),
            () if text.contains("Answer Questions")
                || text.contains("Enter to submit")
                || text.contains("Enter to select") =>
            {
                (PromptKind::Question, None)
            }
            () if text.contains("Do you want to proceed") => (PromptKind::Permission, Some("plan_entry")),
            () if text.contains("trust the files") => (PromptKind::Setup, Some("trust")),
            () if text.contains("Usage limit") => (PromptKind::Setup, Some("quota")),
            () if text.contains("high demand") => (PromptKind::Setup, Some("high_demand")),
            () if text.contains("was not found or is invalid") => (PromptKind::Setup, Some("model_not_found")),
            () if text.contains("potential loop") => (PromptKind::Setup, Some("loop")),
            () => (PromptKind::Setup, Some("dialog")),
        };
        let tool = sub.filter(|_| kind == PromptKind::Permission).map(str::to_owned);
        let prompt = Prompt {
            subtype: sub.map(str::to_owned),
            tool,
            options,
            ready: true,
            screen_lines: all,
            ..Prompt::new(kind)
        };
        look.dialog = Some(Dialog {
            rule: sub.unwrap_or("q").to_owned(),
            prompt,
            selected: Some(0),
            menu: None,
            tabs: vec![],
            free_text: None,
            free_text_focused: false,
            typed: String::new(),
            rows: start..rows.len(),
        });
        return look;
    }
    if let Some(b) = boxrow {
        let end = rows[b..].iter().position(|r| r.starts_with("▀▀")).map_or(rows.len(), |n| b + n);
        let f = sight.field(b..end, 3, 3);
        let t =
            if f.text.trim_start().starts_with("Type your message") { String::new() } else { f.text.trim().to_owned() };
        look.input_box = Some(InputBox {
            text: t,
            suggestion: None,
            is_shell: rows[b].starts_with(" !"),
            is_focused: true,
            is_cut: false,
            first_row: b,
            last_row: end,
        });
    }
    if rows.iter().any(|r| r.contains("Queued (press")) {
        look.queued.push("x".into());
    }
    look
}
