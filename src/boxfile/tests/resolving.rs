//! Promises about plans: complete, absolute, and with nothing in them that a box must not have.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::super::*;
use super::scratch::Scratch;

/// A home with a project in it.
struct Place {
    scratch: Scratch,
    at: Surroundings,
}

impl Place {
    fn new() -> Self {
        let scratch = Scratch::fresh();
        let app = scratch.make("home/My App");
        let at = Surroundings {
            home: scratch.make("home"),
            coop_home: scratch.make("home/.coop"),
            runtime_dir: scratch.make("run/coop"),
            start_dir: app.clone(),
            file: Some(app.join("coop.toml")),
            shell: Some("/usr/bin/zsh".to_owned()),
        };
        scratch.file("home/My App/coop.toml", "");
        Self { scratch, at }
    }

    fn app(&self) -> PathBuf {
        self.scratch.dir().join("home/My App")
    }

    fn settings(&self, text: &str) -> BoxFile {
        let project = parse(self.at.file.as_ref().unwrap(), text, Whose::Project).unwrap();
        merge(BoxFile::default(), project, Overrides::default())
    }

    fn plan(&self, text: &str) -> BoxPlan {
        resolve(&self.settings(text), &self.at).unwrap_or_else(|objections| panic!("{text}\n{objections}"))
    }

    fn refusal(&self, text: &str) -> String {
        resolve(&self.settings(text), &self.at).map(|plan| format!("{plan:?}")).expect_err(text).to_string()
    }
}

#[test]
fn a_file_that_says_nothing_is_a_shell_in_a_box_of_the_directorys_name() {
    let place = Place::new();
    let plan = place.plan("");
    assert_eq!((plan.name.as_str(), plan.image.as_str(), plan.agent), ("my-app", "host", Agent::Unknown));
    assert_eq!((plan.command, plan.shell.as_str()), (vec!["/usr/bin/zsh".to_owned()], "/usr/bin/zsh"));
    assert_eq!((plan.workspace.path, plan.workspace.mode), (place.app(), WorkspaceMode::ReadWrite));
    assert_eq!((plan.network.mode, plan.network.allow), (NetworkMode::Filtered, vec![]));
    assert_eq!((plan.session.cols, plan.session.rows, plan.session.restart), (200, 50, Restart::No));
    assert!(plan.security.seccomp && plan.security.landlock && !plan.nested && plan.warnings.is_empty());
    assert!(plan.git_identity && !place.plan("[box]\ngit_identity = false").git_identity);
}

#[test]
fn the_file_itself_and_what_git_runs_stay_read_only() {
    let place = Place::new();
    let names = |plan: &BoxPlan| -> Vec<PathBuf> {
        plan.workspace.protect.iter().map(|path| path.strip_prefix(place.app()).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&place.plan("")), [Path::new("coop.toml"), Path::new(".git/hooks"), Path::new(".git/config")]);
    let plan = place.plan("[workspace]\nprotect_git = false\nprotect = [\"a/../Makefile\", \"coop.toml\"]");
    assert_eq!(names(&plan), [Path::new("coop.toml"), Path::new("Makefile")]);
}

#[test]
fn the_agent_is_told_by_the_command_and_the_command_by_the_agent() {
    let place = Place::new();
    let program = |text: &str| {
        let plan = place.plan(text);
        (plan.agent, plan.command.join(" "))
    };
    assert_eq!(program("[box]\nagent = \"codex\""), (Agent::Codex, "codex".to_owned()));
    assert_eq!(program("[box]\ncommand = [\"/x/claude\", \"-c\"]"), (Agent::Claude, "/x/claude -c".to_owned()));
    assert_eq!(program("[box]\nagent = \"gemini\"\ncommand = [\"npx\", \"g\"]"), (Agent::Gemini, "npx g".to_owned()));
    assert_eq!(program("[box]\nimage = \"debian\""), (Agent::Unknown, "/bin/sh".to_owned()));
    assert!(place.refusal("[box]\ncommand = []").contains("names no program"));
}

#[test]
fn an_agent_and_a_command_of_different_layers_are_not_mixed() {
    let place = Place::new();
    let program = |user: &str, project: &str, overrides: Overrides| {
        let user = parse(Path::new("config.toml"), &format!("[box]\n{user}"), Whose::User).unwrap();
        let project = parse(Path::new("coop.toml"), &format!("[box]\n{project}"), Whose::Project).unwrap();
        let plan = resolve(&merge(user, project, overrides), &place.at).unwrap();
        (plan.agent, plan.command.join(" "))
    };
    let bash = || Overrides { command: vec!["bash".into()], ..Overrides::default() };
    let claude = || Overrides { agent: Some(Agent::Claude), ..Overrides::default() };
    let none = Overrides::default;
    let codex = "agent = \"codex\"";
    assert_eq!(program(codex, "", bash()), (Agent::Unknown, "bash".to_owned()));
    assert_eq!(program("command = [\"claude\", \"-c\"]", codex, none()), (Agent::Codex, "codex".to_owned()));
    assert_eq!(program("command = [\"claude\", \"-c\"]", "", claude()), (Agent::Claude, "claude -c".to_owned()));
    assert_eq!(program("", "command = [\"npx\", \"x\"]", claude()), (Agent::Claude, "npx x".to_owned()));
    assert_eq!(program(codex, "command = [\"gemini\"]", none()), (Agent::Gemini, "gemini".to_owned()));
}

#[test]
fn a_filtered_box_reaches_its_agents_service() {
    let place = Place::new();
    let plan = place.plan("[box]\nagent = \"claude\"\n[network]\nallow = [\"crates.io\", \"claude.ai\"]");
    assert_eq!(plan.network.allow, ["crates.io", "claude.ai", "api.anthropic.com", "platform.claude.com"]);
    assert_eq!(place.plan("[box]\nagent = \"claude\"\n[network]\nmode = \"none\"").network.allow, Vec::<String>::new());
}

#[test]
fn mounts_are_absolute_and_without_links() {
    let place = Place::new();
    let data = place.scratch.make("home/data");
    let tools = place.scratch.make("home/My App/tools");
    symlink("tools", place.app().join("link")).unwrap();
    let plan = place.plan(
        "[box]\nmounts = [\"~/data:/data:ro\", \"tools:/opt/./tools\", \"link:~/l\", { volume = \"v\", to = \"/v\" }]",
    );
    let home = box_home(&place.at.coop_home, "my-app");
    let expected = [
        (PlannedSource::Path(data), PathBuf::from("/data"), Access::ReadOnly),
        (PlannedSource::InWorkspace(tools.clone()), "/opt/tools".into(), Access::ReadWrite),
        (PlannedSource::InWorkspace(tools), home.join("l"), Access::ReadWrite),
        (PlannedSource::Volume("v".to_owned()), "/v".into(), Access::ReadWrite),
    ];
    assert_eq!(plan.mounts, expected.map(|(source, to, mode)| PlannedMount { source, to, mode }));
}

#[test]
fn nothing_is_mounted_over_what_a_box_needs() {
    let place = Place::new();
    let home = box_home(&place.at.coop_home, "my-app");
    let covers = [
        "/",
        "/proc",
        "/proc/sys",
        "/dev",
        "/dev/shm",
        "/sys",
        "/run",
        "/run/coop",
        "/run/coop/x",
        "/./",
        "~",
        "/home/..",
    ];
    let above = [place.app(), place.at.home.clone(), home.clone(), place.at.coop_home.clone()]
        .map(|path| path.display().to_string());
    for to in covers.into_iter().map(str::to_owned).chain(above) {
        let text = place.refusal(&format!("[box]\nmounts = [\"/usr:{to}\"]"));
        assert!(text.contains("box.mounts: "), "{to}: {text}");
        assert!(text.starts_with(&format!("{}:2:11: ", place.at.file.as_ref().unwrap().display())), "{text}");
    }
    for fine in ["/run/secrets", "/data", "/processes", "~/x"] {
        place.plan(&format!("[box]\nmounts = [\"/usr:{fine}\"]"));
    }
    assert!(place.refusal("[box]\nmounts = [\"/usr:data\"]").contains("use an absolute path"));
}

#[test]
fn no_mount_and_no_workspace_is_a_way_to_coops_own_files() {
    let place = Place::new();
    symlink(&place.at.coop_home, place.app().join("sly")).unwrap();
    for from in ["~/.coop", "~", "/", "~/.coop/../.coop", "sly", "../../run", "../../run/coop"] {
        let text = place.refusal(&format!("[box]\nmounts = [\"{from}:/m:ro\"]"));
        assert!(text.contains("coop's own"), "{from}: {text}");
    }
    for path in ["~/.coop", "sly", "../../run"] {
        assert!(place.refusal(&format!("[workspace]\npath = \"{path}\"")).contains("coop's own"), "{path}");
    }
    for path in ["~", "/", ".."] {
        assert!(place.refusal(&format!("[workspace]\npath = \"{path}\"")).contains("your home"), "{path}");
    }
    assert!(place.refusal("[workspace]\npath = \"/proc\"").contains("the system's own"));
}

#[test]
fn paths_that_must_stay_inside_do() {
    let place = Place::new();
    for path in
        ["..", "../x", "a/../../x", "/etc/passwd", ".", "~/x", "", "a/.."].into_iter().filter(|path| !path.is_empty())
    {
        let text = place.refusal(&format!("[workspace]\nprotect = [\"{path}\"]"));
        assert!(text.contains("is not in the project"), "{path}: {text}");
    }
    for path in ["..", "/etc", ".", "~", "~/../x", "a/../.."] {
        let text = place.refusal(&format!("[session]\npersist = [\"{path}\"]"));
        assert!(text.contains("is not in the box's HOME"), "{path}: {text}");
    }
    let plan = place
        .plan("[session]\npersist = [\"~/.cache\", \"./a/b\"]\n[box]\nhide = [\".env\", \"~/.ssh\", \"/etc/shadow\"]");
    assert_eq!(plan.session.persist, [Path::new(".cache"), Path::new("a/b")]);
    assert_eq!(plan.hide, [place.app().join(".env"), place.at.home.join(".ssh"), "/etc/shadow".into()]);
    for path in ["/", ".", "..", "/proc", "/run", "../../../../../../../../../.."] {
        assert!(place.refusal(&format!("[box]\nhide = [\"{path}\"]")).contains("box.hide: "), "{path}");
    }
}

#[test]
fn every_objection_is_told_at_once_with_its_place() {
    let place = Place::new();
    let text = place
        .refusal("[box]\nsetup = [\"x\"]\nmounts = [\"nothing:/m\", \"/usr:/dev\"]\n[session]\npersist = [\"..\"]\n");
    let file = place.at.file.as_ref().unwrap().display().to_string();
    let lines: Vec<&str> = text.lines().map(|line| line.strip_prefix(&file).expect(line)).collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines.iter().any(|line| line.starts_with(":2:9: box.setup: this system is read-only inside")), "{text}");
    assert!(
        lines.iter().any(|line| line.starts_with(":3:11: box.mounts: ") && line.contains("No such file")),
        "{text}"
    );
    assert!(lines.iter().any(|line| line.starts_with(":3:25: box.mounts: ")), "{text}");
    assert!(lines.iter().any(|line| line.starts_with(":5:12: session.persist: ")), "{text}");
}

#[test]
fn relative_paths_begin_where_they_were_written() {
    let place = Place::new();
    let (deep, data) = (place.scratch.make("home/My App/src"), place.scratch.make("home/My App/src/data"));
    place.scratch.make("home/My App/image");
    let at = Surroundings { start_dir: deep, ..place.at.clone() };
    let mount = Mount { source: MountSource::From("data".into()), to: "/d".into(), mode: Access::ReadOnly };
    let overrides = Overrides { mounts: vec![mount], ..Overrides::default() };
    let project = parse(at.file.as_ref().unwrap(), "[box]\nimage = \"dir:./image\"", Whose::Project).unwrap();
    let plan = resolve(&merge(BoxFile::default(), project, overrides), &at).unwrap();
    assert_eq!(plan.image, format!("dir:{}", place.app().join("image").display()));
    assert_eq!(plan.mounts[0].source, PlannedSource::InWorkspace(data));
    assert_eq!(plan.workspace.path, place.app());
    let user = parse(Path::new("config.toml"), "[box]\nmounts = [\"data:/d\"]", Whose::User).unwrap();
    let text = resolve(&merge(user, BoxFile::default(), Overrides::default()), &at).unwrap_err().to_string();
    assert!(text.starts_with("config.toml:2:11: box.mounts: `data` begins nowhere"), "{text}");
}

#[test]
fn the_command_line_is_checked_too() {
    let place = Place::new();
    let overrides = Overrides {
        name: Some("../x".into()),
        env: vec![("HOME".into(), "/".into()), ("A B".into(), String::new()), ("N".into(), "a\0b".into())],
        export: vec!["COOP_HOME".into()],
        workspace: Some("missing".into()),
        image: Some("a b".into()),
        ..Overrides::default()
    };
    let text = resolve(&merge(BoxFile::default(), BoxFile::default(), overrides), &place.at).unwrap_err().to_string();
    let parts = [
        "session.name: ",
        "`HOME` is set",
        "`A B` is no variable",
        "NUL",
        "`COOP_HOME` is set",
        "does not exist",
        "blanks",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.starts_with("command line: ")), "{text}");
}

#[test]
fn what_changes_nothing_is_said() {
    let place = Place::new();
    let text =
        "[box]\nlogin = \"copy\"\nuser = \"me\"\n[network]\nmode = \"host\"\nallow = [\"a\"]\npublish = [\"80\"]";
    let warnings = place.plan(text).warnings;
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    for key in ["box.login", "box.user", "network.allow", "network.publish"] {
        assert!(warnings.iter().any(|warning| warning.starts_with(key)), "{key}");
    }
}

#[test]
fn rules_of_the_command_line_and_of_several_layers_are_looked_at_too() {
    let place = Place::new();
    let project = parse(place.at.file.as_ref().unwrap(), "[network]\npublish = [\"80:81\"]", Whose::Project).unwrap();
    let (allow, publish) = (vec!["a b".to_owned(), "ok.example".to_owned()], vec!["80".to_owned(), "x".to_owned()]);
    let settings = merge(BoxFile::default(), project, Overrides { allow, publish, ..Overrides::default() });
    let told = resolve(&settings, &place.at).unwrap_err().to_string();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].starts_with("command line: network.allow: `a b`: it has a space in it"), "{told}");
    assert!(lines.iter().any(|line| line.starts_with("command line: network.publish: `x`: ")), "{told}");
    assert!(lines.iter().any(|line| line.ends_with("network.publish: 127.0.0.1:80 is published twice")), "{told}");
}

#[test]
fn a_plan_of_an_older_coop_is_read_with_all_walls() {
    let plan: BoxPlan = serde_json::from_str(r#"{"name": "old", "command": ["sh"], "later": 1}"#).unwrap();
    assert!(plan.security.seccomp && plan.security.landlock && plan.network.mode == NetworkMode::Filtered);
}

#[test]
fn a_plan_is_explained_with_all_that_matters() {
    let place = Place::new();
    place.scratch.make("home/data");
    let text = place
        .plan(
            "[box]\nimage = \"debian:12\"\nagent = \"claude\"\nsetup = [\"apt-get install -y git\"]\nlogin = \"copy\"\nhide = [\".env\"]\n\
             mounts = [\"~/data:/data:ro\"]\nnested = true\n[workspace]\nmode = \"overlay\"\n[network]\nallow = [\"crates.io\"]\n\
             publish = [\"8080:80\"]\n[limits]\nmemory = \"4G\"\ncpus = 2\n[session]\nrestart = \"always\"\npersist = [\".cache\"]\n\
             [env]\nexport = [\"GITHUB_TOKEN\"]\nX = \"\\u001b[2J\"",
        )
        .to_string();
    let home = place.at.home.display().to_string();
    let expected = "\
box my-app (claude), from ~/My App/coop.toml
  runs       claude
  system     the image debian:12
  setup      apt-get install -y git
  sees       ~/My App (the project; changes are kept aside until you apply them)
             /data from ~/data (read only)
  read-only  coop.toml
             .git/hooks
             .git/config
  hidden     .env
  reaches    crates.io
             api.anthropic.com
             platform.claude.com
             claude.ai
  opens      8080:80
  gets       a copy of your login for claude
             GITHUB_TOKEN of your environment
             X=\\u{1b}[2J
  limits     memory 4G, 2 processors
  no wall    nested: namespaces and mounts can be made inside
  keeps      ~/.cache
  restarts   whenever it ends
";
    assert_eq!(text.replace(&home, "~"), expected);
}

#[test]
fn what_git_runs_or_follows_is_protected_in_submodules_too() {
    let place = Place::new();
    for file in ["config", "commondir", "modules/a/b/HEAD", "modules/a/b/config", "modules/a/b/modules/c/HEAD", "index"]
    {
        place.scratch.file(&format!("home/My App/.git/{file}"), "");
    }
    let plan = place.plan("");
    let git = place.app().join(".git");
    let has = |path: &str| plan.workspace.protect.contains(&git.join(path));
    for path in
        ["hooks", "config", "commondir", "modules/a/b/hooks", "modules/a/b/config", "modules/a/b/modules/c/config"]
    {
        assert!(has(path), "{path}: {:?}", plan.workspace.protect);
    }
    assert!(!has("index") && !has("config.worktree") && !has("modules"), "{:?}", plan.workspace.protect);
    assert!(plan.warnings.iter().any(|warning| warning.contains("commondir")), "{:?}", plan.warnings);
}

#[test]
fn what_leads_git_into_a_submodule_is_protected() {
    let place = Place::new();
    let file = |path: &str, text: &str| place.scratch.file(&format!("home/My App/{path}"), text);
    file(".git/config", "[core]\n\tbare = false\n");
    for (module, settings) in [
        ("sub", "[remote]\n\tworktree = wrong\n[core]\n\tbare = false\n\tworktree = ../../../lib/sub\n"),
        ("sub/modules/inner", "[core]\n\tWorkTree = \"../../../../../lib/sub/inner\"\n"),
        ("out", "[core]\n\tworktree = ../../../../elsewhere\n"),
        ("own", "[core]\n\tworktree = ../../../own\n"),
    ] {
        file(&format!(".git/modules/{module}/HEAD"), "");
        file(&format!(".git/modules/{module}/config"), settings);
    }
    file("lib/sub/.git", "gitdir: ../../.git/modules/sub\n");
    file("lib/sub/inner/.git", "gitdir: ../../../.git/modules/sub/modules/inner\n");
    file("own/.git/config", "[core]\n");
    place.scratch.file("home/elsewhere/.git", "gitdir: x\n");
    let plan = place.plan("");
    let has = |path: &str| plan.workspace.protect.contains(&place.app().join(path));
    for path in ["lib/sub/.git", "lib/sub/inner/.git", "own/.git/config", "own/.git/hooks"] {
        assert!(has(path), "{path}: {:?}", plan.workspace.protect);
    }
    assert!(plan.workspace.protect.iter().all(|path| path.starts_with(place.app())), "{:?}", plan.workspace.protect);
    assert_eq!(plan.warnings, Vec::<String>::new());
}

#[test]
fn a_link_on_the_way_to_what_is_protected_or_hidden_is_told_with_the_way_out() {
    let place = Place::new();
    place.scratch.file("home/My App/real/file", "");
    symlink("real/file", place.app().join("link")).unwrap();
    symlink("real", place.app().join("dir")).unwrap();
    for text in [
        "[workspace]\nprotect = [\"link\"]",
        "[workspace]\nprotect = [\"dir/file\"]",
        "[box]\nhide = [\"link\"]",
        "[box]\nhide = [\"dir\"]",
    ] {
        let warnings = place.plan(text).warnings.join(" ");
        assert!(warnings.contains("is a link") && warnings.contains("overlay"), "{text}: {warnings}");
    }
    for text in ["[workspace]\nprotect = [\"real/file\", \"not/there\"]", "[box]\nhide = [\"real\"]"] {
        assert_eq!(place.plan(text).warnings, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_git_that_is_a_link_is_told() {
    let place = Place::new();
    symlink(place.scratch.make("elsewhere"), place.app().join(".git")).unwrap();
    let plan = place.plan("");
    assert!(plan.warnings.iter().any(|warning| warning.contains(".git is a link")), "{:?}", plan.warnings);
}

#[test]
fn a_link_in_the_project_that_leads_out_of_it_is_neither_mounted_nor_an_image() {
    let place = Place::new();
    symlink(place.scratch.make("home/keys"), place.app().join("data")).unwrap();
    symlink("/", place.app().join("rootfs")).unwrap();
    for text in ["mounts = [\"./data:/data\"]", "image = \"dir:./rootfs\""] {
        let told = place.refusal(&format!("[box]\n{text}"));
        assert!(told.contains("is a link"), "{told}");
    }
}

#[test]
fn a_user_that_a_box_cannot_have_is_refused_with_the_way_out() {
    let place = Place::new();
    let of = |user: &str, more: &str| format!("[box]\nimage = \"debian:12\"\nuser = \"{user}\"\n{more}");
    let own = nix::unistd::geteuid().to_string();
    place.plan(&of(&own, ""));
    place.plan(&of("root", "uidmap = \"root\""));
    place.plan(&of("0", "uidmap = \"range\""));
    let told = place.refusal(&of("node", ""));
    assert!(told.contains("box.user: a box has one user") && told.contains("box.uidmap = \"root\""), "{told}");
    assert!(place.refusal(&of("node", "uidmap = \"root\"")).contains("leave it out"));
}
