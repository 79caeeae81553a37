//! deploy/ and the pages about it: every flag, variable and verb in them is one that coop has.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::support::{Coop, Scratch, at_home, run_coop};

/// Pages whose command lines must be ones that coop takes.
const PAGES: [&str; 3] = ["docs/migration.md", "deploy/README.md", "README.md"];

/// What ends a command in a shell, where no quote holds it.
const COMMAND_ENDS: [&str; 7] = ["|", "\\|", "||", "&", "&&", ";", "<"];

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words of a `[…]` after this key, wherever it stands.
fn lists<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(move |line| {
        let list = line.split_once(key)?.1;
        let list = &list[list.find('[')?..=list.rfind(']')?];
        Some(serde_json::from_str(list).unwrap_or_else(|error| panic!("{line}: {error}")))
    })
}

/// The words of an `args:` with a line for each.
fn arguments(yaml: &str) -> Vec<String> {
    let block = yaml.lines().skip_while(|line| line.trim() != "args:").skip(1);
    let words = block.map(str::trim).filter(|line| !line.starts_with('#')).map_while(|line| line.strip_prefix("- "));
    words.map(str::to_owned).collect()
}

/// Starts a session with flags of a deployment, in a place of the test's own.
fn start(flags: &[String], scratch: &Scratch, variables: &[(String, String)]) -> Coop {
    let token = scratch.file("token", "correct-horse-battery-staple");
    let here = |name: &str, value: &str| match name {
        "--port" | "--health-port" | "COOP_PORT" => "0".to_owned(),
        "--socket" | "COOP_SOCKET" => scratch.path("s").display().to_string(),
        "--auth-token-file" => token.clone(),
        "--cwd" => "/usr".to_owned(),
        // Kubernetes puts the pod's own in.
        _ => value.replace("$(POD_NAMESPACE)", "default"),
    };
    let flags: Vec<String> = flags
        .iter()
        .map(|flag| match flag.split_once('=') {
            Some((name, value)) if name.starts_with("--") => format!("{name}={}", here(name, value)),
            _ => flag.clone(),
        })
        .collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    // Whatever words an agent would be given, a shell does not mind them.
    let mut coop = Coop::start_with(&flags, &["sh", "-c", "exec cat"], |command| {
        at_home(command, scratch);
        command.envs(variables.iter().map(|(name, value)| (name, here(name, value))));
    });
    coop.place.token = Some("correct-horse-battery-staple".to_owned());
    coop
}

/// What comes before the program.
fn before_program(words: &[String]) -> Vec<String> {
    words.iter().take_while(|word| *word != "--").cloned().collect()
}

/// The block in this language of a page.
fn block(page: &str, language: &str) -> String {
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap_or_else(|| panic!("no block in {language}"));
    rest.split_once("```").unwrap().0.to_owned()
}

/// Starts what an image would, with the variables that it has, and has its health check look at it.
async fn runs_as_an_image(dockerfile: &str) -> Vec<(String, String)> {
    let one = |key: &'static str| lists(dockerfile, key).next().unwrap_or_else(|| panic!("no {key}"));
    assert_eq!(one("ENTRYPOINT"), ["coop"]);
    let words = lists(dockerfile, "CMD").last().unwrap();
    let mut variables: Vec<(String, String)> = Vec::new();
    for word in dockerfile.split_whitespace().filter(|word| word.starts_with("COOP_")) {
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| *name != "COOP_AUTH_TOKEN_FILE") {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    variables.push(("COOP_AUTH_TOKEN".to_owned(), "correct-horse-battery-staple".to_owned()));
    let scratch = Scratch::new();
    let coop = start(&before_program(&words), &scratch, &variables);
    let check = one("HEALTHCHECK");
    assert_eq!(check[0], "coop");
    let check: Vec<&str> = check[1..].iter().map(String::as_str).collect();
    // In the container the variable of the image names the socket.
    run_coop(&check, &[("COOP_SOCKET", coop.socket.as_ref().unwrap().to_str().unwrap())]).await.ok();
    run_coop(&check, &[("COOP_SOCKET", "/no/such/socket")]).await.complaint();
    known_variables("the image", dockerfile).await;
    variables
}

#[tokio::test]
async fn the_image_runs_with_its_own_words_and_its_health_check_works() {
    let variables = runs_as_an_image(&file("deploy/Dockerfile")).await;
    let host = variables.iter().find(|(name, _)| name == "COOP_HOST");
    assert_eq!(host.map(|(_, host)| host.as_str()), Some("0.0.0.0"), "others reach it");
}

#[tokio::test]
async fn the_image_of_an_agent_runs_as_the_page_says() {
    let page = file("deploy/README.md");
    runs_as_an_image(&block(&page, "dockerfile")).await;
    known_variables("the page", &page).await;
}

#[test]
fn what_the_image_copies_is_there() {
    let dockerfile = file("deploy/Dockerfile");
    let ignored = file(".dockerignore");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for line in dockerfile.lines().filter_map(|line| line.strip_prefix("COPY ")).filter(|line| !line.contains("--from"))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        for source in &words[..words.len() - 1] {
            assert!(root.join(source).exists(), "{source}");
        }
    }
    for name in ["Cargo.toml", "Cargo.lock", "build.rs", "build", "proto", "src"] {
        assert!(!ignored.lines().any(|line| line == name), "{name} is needed to build");
    }
    assert!(dockerfile.contains("\nUSER 10001"), "not root");
}

#[tokio::test]
async fn pods_start_with_flags_and_probes_that_coop_has() {
    for name in ["deploy/k8s-sidecar.yaml", "deploy/k8s-standalone.yaml", "deploy/kustomize/base/deployment.yaml"] {
        let yaml = file(name);
        let flags = before_program(&arguments(&yaml));
        assert!(flags.len() > 3, "{name}: {flags:?}");
        let scratch = Scratch::new();
        let coop = start(&flags, &scratch, &[]);
        assert_eq!(coop.status().await["state"], "running", "{name}");
        for probe in lists(&yaml, "exec:") {
            assert!(probe[0].ends_with("/coop"), "{probe:?}");
            let words: Vec<&str> = probe[1..].iter().map(String::as_str).collect();
            let at = words.iter().position(|word| *word == "--socket").map_or(words.len(), |at| at + 1);
            let words = [&words[..at], &[coop.socket.as_ref().unwrap().to_str().unwrap()]].concat();
            run_coop(&words, &[]).await.ok();
        }
        for path in yaml.lines().filter_map(|line| line.split_once("httpGet: {path: ")?.1.split_once(',')) {
            let answer = coop.at("health_url").call("GET", path.0).header("authorization", "").send().await;
            assert_eq!(answer.status, 200, "{name}: {path:?}");
        }
        // Kubernetes asks without a token, for the whole server unless the probe names a service.
        for probe in yaml.lines().filter_map(|line| line.split_once("grpc: {")) {
            assert_eq!(probe.1, "port: 8080}", "{name}");
            assert!(flags.contains(&"--port=8080".to_owned()), "{name}: {flags:?}");
            let mut health = HealthClient::new(coop.place.channel().await);
            let answer = health.check(HealthCheckRequest { service: String::new() }).await.unwrap().into_inner();
            assert_eq!(answer.status(), ServingStatus::Serving, "{name}");
        }
        known_variables(name, &yaml).await;
    }
}

#[tokio::test]
async fn the_overlay_adds_flags_that_coop_has_before_the_program() {
    let patch = file("deploy/kustomize/overlays/example/session.yaml");
    let mut words = arguments(&file("deploy/kustomize/base/deployment.yaml"));
    let at = "path: /spec/template/spec/containers/0/args/";
    let added: Vec<(&str, &str)> =
        patch.split("- op: add").skip(1).filter_map(|op| op.split_once(at)?.1.split_once("\n  value: ")).collect();
    for (place, value) in &added {
        words.insert(place.parse().unwrap(), value.lines().next().unwrap().to_owned());
    }
    assert_eq!((added.len(), patch.matches("--").count()), (2, 2), "each flag of the patch was found");
    let scratch = Scratch::new();
    let coop = start(&before_program(&words), &scratch, &[]);
    assert_eq!(coop.status().await["labels"]["team"], "red");
    let named = |host: &str| coop.place.call("GET", "/api/v1/status").header("host", host);
    assert_eq!(named("coop.team-red.example").send().await.status, 200);
    assert_eq!(named("coop.team-blue.example").send().await.status, 403);
}

#[tokio::test]
async fn the_unit_starts_a_session_of_its_name() {
    let unit = file("deploy/systemd/coop@.service");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let line = line.replace("%i", "mayor").replace("${DIRECTORY}", "/usr");
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    assert!(words[0].ends_with("/coop"), "{line}");
    let scratch = Scratch::new();
    let flags = before_program(&words[1..]);
    let socket = format!("--socket={}", scratch.path("s").display());
    let coop = start(&[flags, vec![socket]].concat(), &scratch, &[]);
    let status = coop.status().await;
    assert_eq!((status["labels"]["name"].as_str(), status["cwd"].as_str()), (Some("mayor"), Some("/usr")));
    known_variables("the unit", &unit).await;
}

/// Every variable of coop's that is named is one that coop reads.
async fn known_variables(name: &str, text: &str) {
    let help = run_coop(&["--help"], &[]).await.ok() + &run_coop(&["state", "--help"], &[]).await.ok();
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).filter(|word| word.starts_with("COOP_"));
    for variable in words {
        assert!(help.contains(&format!("[env: {variable}")), "{name}: coop knows no {variable}");
    }
}

/// The commands of a line: words without their quotes, cut where a shell would.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars().chain([' ']) {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    let meant = words.into_iter().take_while(|word| !word.starts_with('#')).collect::<Vec<String>>();
    let ends = |word: &String| COMMAND_ENDS.contains(&word.as_str()) || word.starts_with('>') || word.starts_with("2>");
    let parts = meant.split(ends);
    parts.filter(|part| !part.is_empty()).map(<[String]>::to_vec).collect()
}

/// Lines of blocks in a shell's language, with those that a `\` joins in one.
fn shell_lines(page: &str) -> Vec<String> {
    let (mut lines, mut inside, mut held) = (Vec::new(), false, String::new());
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            inside = !inside && ["bash", "console", "sh"].iter().any(|known| language.starts_with(known));
        } else if inside {
            held += line.trim_start_matches("$ ");
            match held.strip_suffix('\\') {
                Some(joined) => held = joined.to_owned(),
                None => lines.push(std::mem::take(&mut held)),
            }
        }
    }
    // In tables and sentences, commands stand between backquotes.
    let spans = page.lines().filter(|line| !line.trim_start().starts_with("```"));
    lines.extend(spans.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned));
    lines
}

#[tokio::test]
async fn every_command_line_of_the_pages_is_one_that_coop_takes() {
    let mut seen = 0;
    for name in PAGES {
        for words in shell_lines(&file(name)).iter().flat_map(|line| commands(line)) {
            let words: Vec<String> = words.into_iter().skip_while(|word| word == "setsid").collect();
            let is_abridged = words.iter().any(|word| word.contains('…') || word.contains('['));
            if words.len() < 2 || words[0] != "coop" || is_abridged {
                continue;
            }
            let flags: Vec<&str> = words[1..].iter().map(String::as_str).take_while(|word| *word != "--").collect();
            // Whoever asks for help is told, but only if everything before it is understood.
            let ended = run_coop(&[&flags[..], &["--help"]].concat(), &[]).await;
            assert_eq!(ended.code, Some(0), "{name}: {}\n{}", words.join(" "), ended.err);
            seen += 1;
        }
    }
    assert!(seen > 30, "only {seen} commands were found");
}

#[tokio::test]
async fn a_command_line_that_coop_does_not_take_would_be_found() {
    for line in ["coop wait --txt ready", "coop --prot 80 -- bash", "coop sotp", "coop resize big"] {
        let words = commands(line).remove(0);
        let flags: Vec<&str> = words[1..].iter().map(String::as_str).take_while(|word| *word != "--").collect();
        assert_eq!(run_coop(&[&flags[..], &["--help"]].concat(), &[]).await.code, Some(2), "{line}");
    }
    let page = "```console\n$ coop state \\\n  --json | jq .status\n```\n| `tmux ls` | `coop ls` |\n";
    let found: Vec<_> = shell_lines(page).iter().flat_map(|line| commands(line)).collect();
    let expected: [&[&str]; 4] = [&["coop", "state", "--json"], &["jq", ".status"], &["tmux", "ls"], &["coop", "ls"]];
    assert_eq!(found, expected);
    assert_eq!(
        Value::from(commands("coop input 'a | b' # why")[0].clone()),
        serde_json::json!(["coop", "input", "a | b"])
    );
}
