//! Promises about the keys that answer Gemini CLI's dialogs.

use super::*;

fn prompt(kind: PromptKind, subtype: Option<&str>, options: &[&str]) -> Prompt {
    let options = options.iter().map(|&option| option.to_owned()).collect();
    Prompt { subtype: subtype.map(str::to_owned), options, ready: true, ..Prompt::new(kind) }
}

fn shell() -> Prompt {
    let options = ["Allow once", "Allow for this session", "No, suggest changes (esc)"];
    prompt(PromptKind::Permission, Some("tool"), &options)
}

fn edit() -> Prompt {
    let options = ["Allow once", "Allow for this session", "Modify with external editor", "No, suggest changes (esc)"];
    prompt(PromptKind::Permission, Some("edit"), &options)
}

fn plan_approval() -> Prompt {
    let options = ["Yes, automatically accept edits", "Yes, manually accept edits", "Type your feedback..."];
    prompt(PromptKind::Plan, None, &options)
}

fn accept(accept: bool) -> Answer {
    Answer { accept: Some(accept), ..Answer::default() }
}

fn option(option: u32) -> Answer {
    Answer { option: Some(option), ..Answer::default() }
}

fn text(text: &str) -> Answer {
    Answer { text: Some(text.to_owned()), ..Answer::default() }
}

fn keys(prompt: &Prompt, answer: &Answer) -> Vec<Step> {
    match way(None, prompt, answer).unwrap() {
        Way::Keys(keys) => keys,
        Way::Decision { .. } | Way::Undecided(_) => panic!("no hook waits"),
    }
}

fn refused(prompt: &Prompt, answer: &Answer) -> String {
    way(None, prompt, answer).err().expect("it is refused").to_string()
}

#[test]
fn a_permission_is_given_by_a_digit_and_refused_by_escape_wherever_no_stands() {
    for dialog in [shell(), edit()] {
        assert_eq!(keys(&dialog, &accept(true)), [Step::Choose(1)]);
        assert_eq!(keys(&dialog, &accept(false)), [Step::Dismiss]);
        assert_eq!(keys(&dialog, &option(2)), [Step::Choose(2)]);
    }
    assert_eq!(refused(&shell(), &option(4)), "option 4: this dialog has options 1 to 3");
    let not_drawn = prompt(PromptKind::Permission, Some("tool"), &[]);
    assert!(refused(&not_drawn, &accept(true)).contains("not known yet"));
}

#[test]
fn a_reason_cannot_go_with_a_permission_and_the_way_out_is_told() {
    let told = refused(&shell(), &Answer { accept: Some(false), ..text("use another") });
    assert!(told.contains("ends its turn") && told.contains("next message"), "{told}");
    assert!(refused(&edit(), &option(3)).contains("editor"));
}

#[test]
fn a_plan_is_accepted_carefully_or_sent_back_with_words() {
    assert_eq!(keys(&plan_approval(), &accept(true)), [Step::Choose(2)], "the first one would ask less");
    assert_eq!(keys(&plan_approval(), &option(1)), [Step::Choose(1)]);
    assert_eq!(keys(&plan_approval(), &accept(false)), [Step::Dismiss]);
    let shorter = [Step::Focus(3), Step::Type("shorter".into())];
    assert_eq!(keys(&plan_approval(), &text("shorter")), shorter);
    assert_eq!(keys(&plan_approval(), &Answer { accept: Some(false), ..text("shorter") }), shorter);
    assert_eq!(keys(&plan_approval(), &Answer { option: Some(3), ..text("shorter") }), shorter);
    assert!(refused(&plan_approval(), &option(3)).contains("needs text"));
    assert!(refused(&plan_approval(), &Answer { accept: Some(true), ..text("x") }).contains("as it is"));
}

fn question(options: &[&str], multi_select: bool) -> Question {
    let options = options.iter().map(|&option| option.to_owned()).collect();
    Question { question: "?".into(), options, multi_select, ..Question::default() }
}

fn asks(questions: Vec<Question>) -> Prompt {
    Prompt { questions, ready: true, ..Prompt::new(PromptKind::Question) }
}

#[test]
fn each_kind_of_question_is_answered_in_its_way() {
    let choice = asks(vec![question(&["a", "b"], false)]);
    assert_eq!(keys(&choice, &option(2)), [Step::Choose(2)]);
    assert_eq!(keys(&choice, &text("own")), [Step::Focus(3), Step::Type("own".into())]);
    assert_eq!(keys(&choice, &accept(false)), [Step::Dismiss]);
    assert_eq!(refused(&choice, &option(3)), "option 3: this dialog has options 1 to 2");
    let words = asks(vec![question(&[], false)]);
    assert_eq!(keys(&words, &text("own")), [Step::Type("own".into())]);
    let several = asks(vec![question(&["a", "b", "c"], true)]);
    let both = Answer { answers: vec![Chosen { options: vec![1, 3], ..Chosen::default() }], ..Answer::default() };
    let ticked = [Step::Tick(1), Step::Tick(3), Step::Reach("●Done"), Step::Enter];
    assert_eq!(keys(&several, &both), ticked);
    assert_eq!(keys(&several, &text("own")), [Step::Focus(5), Step::Type("own".into())], "behind all of the above");
    let one_of_one = asks(vec![question(&["a"], true)]);
    assert_eq!(keys(&one_of_one, &text("own")), [Step::Focus(2), Step::Type("own".into())], "there is no such row");
}

#[test]
fn of_several_questions_each_is_seen_before_it_is_answered_and_all_are_submitted() {
    let prompt = asks(vec![question(&["a", "b"], false), question(&[], false)]);
    let answers =
        vec![Chosen { option: Some(2), ..Chosen::default() }, Chosen { text: Some("own".into()), ..Chosen::default() }];
    let steps = keys(&prompt, &Answer { answers, ..Answer::default() });
    let expected = [Step::Choose(2), Step::Await(1), Step::Type("own".into()), Step::Await(2), Step::Enter];
    assert_eq!(steps, expected);
    assert!(refused(&prompt, &option(1)).contains("2 questions are asked"));
}

#[test]
fn dialogs_about_limits_and_trust_are_answered_by_what_their_options_say() {
    let accepted = |subtype: &str, options: &[&str]| {
        let prompt = prompt(PromptKind::Setup, Some(subtype), options);
        (way(None, &prompt, &accept(true)).map(|_| keys(&prompt, &accept(true))), keys(&prompt, &accept(false)))
    };
    let limit = ["Keep trying", "Stop"];
    for subtype in ["quota", "high_demand"] {
        let (yes, no) = accepted(subtype, &limit);
        assert_eq!((yes.unwrap(), no), (vec![Step::Choose(1)], vec![Step::Choose(2)]), "{subtype}");
    }
    let detection = ["Keep loop detection enabled (esc)", "Disable loop detection for this session"];
    let (yes, no) = accepted("loop", &detection);
    assert_eq!((yes.unwrap(), no), (vec![Step::Choose(1)], vec![Step::Dismiss]));
    let trust = ["Trust folder (proj)", "Trust parent folder (dev)", "Don't trust"];
    let (yes, no) = accepted("trust", &trust);
    assert_eq!((yes.unwrap(), no), (vec![Step::Choose(1)], vec![Step::Choose(3)]));
    let (yes, _) = accepted("model_not_found", &limit);
    assert!(yes.err().is_some_and(|told| told.to_string().contains("1 to 2")), "what yes means is not clear");
    let (yes, _) = accepted("auth", &["Sign in with Google", "Use Gemini API Key"]);
    assert!(yes.is_err(), "to log in is somebody's decision");
}

#[test]
fn enter_is_only_sent_where_it_is_known_to_do_no_harm() {
    let key = prompt(PromptKind::Setup, Some("api_key"), &[]);
    let field = |typed: &str| Dialog {
        free_text_focused: true,
        typed: typed.to_owned(),
        ..Dialog::new("api_key", key.clone(), 0..1)
    };
    let accepted = |field: &Dialog| match way(Some(field), &key, &accept(true)) {
        Ok(Way::Keys(keys)) => Ok(keys),
        Ok(_) => panic!("no hook waits"),
        Err(failure) => Err(failure.to_string()),
    };
    assert_eq!(accepted(&field("some-key")), Ok(vec![Step::Enter]));
    assert!(accepted(&field("")).is_err_and(|told| told.contains("needs text")), "there is none to be accepted");
    assert!(refused(&key, &accept(true)).contains("needs text"), "nor is one known");
    for subtype in ["oauth_login", "rewind", "dialog"] {
        let told = refused(&prompt(PromptKind::Setup, Some(subtype), &[]), &accept(true));
        assert!(told.contains("not known"), "{subtype}: {told}");
    }
}

#[test]
fn a_key_is_typed_in_the_place_of_the_one_that_stands_there() {
    let key = prompt(PromptKind::Setup, Some("api_key"), &[]);
    assert_eq!(keys(&key, &text("AIza_x-1.2")), [Step::Empty, Step::Type("AIza_x-1.2".into())]);
    for wrong in ["two words", "AIza!", "schlüssel"] {
        assert!(refused(&key, &text(wrong)).contains("letters"), "{wrong:?}");
    }
    let trust = prompt(PromptKind::Permission, Some("trust"), &["Trust folder", "Don't trust"]);
    assert!(refused(&trust, &text("yes")).contains("takes none"));
}

#[test]
fn answers_go_on_from_the_question_that_is_shown() {
    let mut prompt = asks(vec![question(&["a", "b"], false), question(&["c", "d"], false)]);
    let both = [1, 2].map(|option| Chosen { option: Some(option), ..Chosen::default() });
    let both = Answer { answers: both.into(), ..Answer::default() };
    prompt.question_current = 1;
    assert_eq!(keys(&prompt, &both), [Step::Choose(2), Step::Await(2), Step::Enter], "the first one has its answer");
    let tab = |is_answered| Tab { header: String::new(), is_answered };
    let shown = Dialog { tabs: vec![tab(false), tab(false)], ..Dialog::new("ask", prompt.clone(), 0..1) };
    let told = way(Some(&shown), &prompt, &both).err().expect("it is refused").to_string();
    assert!(told.contains("question 0 has no answer"), "{told}");
    prompt.question_current = 2;
    for submit in [accept(true), both] {
        assert_eq!(keys(&prompt, &submit), [Step::Enter]);
    }
}

#[test]
fn words_are_never_dropped() {
    let choice = asks(vec![question(&["a", "b"], false)]);
    assert!(refused(&choice, &Answer { accept: Some(false), ..text("because") }).contains("declines"));
    assert!(refused(&shell(), &Answer { accept: Some(false), ..option(1) }).contains("not both"));
}
