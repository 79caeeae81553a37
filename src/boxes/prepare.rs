//! From what a caller wants to what is started: the one place where a box's description becomes a plan.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::asked::Asked;
use super::caller;
use super::foundation::{self, Foundation, FoundationError, Told};
use super::home::Home;
use super::name::{BadName, Name};
use super::record::{ImageRecord, Record};
use super::submodules;
use crate::boxfile::{
    self, Agent, BoxPlan, FileError, Needs, Overrides, Surroundings, Trust, TrustError, Verdict, Whose, Word,
};
use crate::config;
use crate::proto::v1;
use crate::review;

/// The label by which a session tells which box it is.
const NAME_LABEL: &str = "name";

/// A box that can be started.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub record: Record,
    /// The sidecar's words, without its socket.
    pub sidecar_args: Vec<OsString>,
    /// What was asked for when the box of this name was started before, if there is one.
    pub earlier: Option<Asked>,
}

/// What the files and the caller make of a box.
struct Planned {
    plan: BoxPlan,
    asked: Asked,
    earlier: Option<Asked>,
    file_sha256: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("{0:?} is no absolute path: say where the project is")]
    Relative(PathBuf),
    #[error("{0:?} is no agent: use {choices}", choices = Agent::choices())]
    NoAgent(String),
    #[error("a terminal of {0} by {1} cannot be: both sides are from 1 to {max}", max = u16::MAX)]
    BadSize(u32, u32),
    #[error(transparent)]
    BadName(#[from] BadName),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("{0}")]
    Untrusted(Needs),
    #[error(transparent)]
    Foundation(#[from] FoundationError),
    #[error("{0}")]
    Plan(String),
}

/// Makes everything ready that a start needs, which may take its time: images are fetched. The name in the record is the
/// box's.
pub async fn prepare(source: v1::BoxSource, home: &Home, told: &Told) -> Result<Prepared, PrepareError> {
    let planned = {
        let (source, home) = (source.clone(), home.clone());
        tokio::task::spawn_blocking(move || plan(&source, &home)).await
    };
    let planned = planned.map_err(|error| PrepareError::Plan(error.to_string()))??;
    let Planned { mut plan, asked, earlier, file_sha256 } = planned;
    let name = Name::parse(&plan.name)?;
    let Foundation { image, setup_build } = foundation::lay(&plan, home, told).await?;
    if let Some(image) = &image {
        heed(&mut plan, image);
    }
    let env = variables(&source, &plan);
    let unset = plan.env.export.iter().filter(|name| !env.contains_key(*name));
    let warnings: Vec<String> =
        unset.map(|name| format!("env.export: {name} is not set where the box was brought up, nor inside")).collect();
    plan.warnings.extend(warnings);
    plan.warnings.extend(kept_by_git(&plan));
    let path = source.exported.get("PATH").cloned();
    let asked = Some(asked);
    let record = Record { image, setup_build, path, asked, file_sha256, ..Record::new(name, now_ms(), plan, env) };
    Ok(Prepared { earlier, ..again(record, home) })
}

/// What an image says about how it wants to be run counts where nobody else has said anything.
fn heed(plan: &mut BoxPlan, image: &ImageRecord) {
    if plan.command_is_open && !image.argv.is_empty() {
        plan.command.clone_from(&image.argv);
    }
    let is_root = |user: &String| matches!(user.split(':').next(), Some("" | "0" | "root"));
    if let Some(user) = image.user.as_ref().filter(|user| !is_root(user) && plan.user.is_none()) {
        let user = boxfile::shown(user);
        plan.warnings.push(format!("the image would run as {user}: a box has one user, which is you"));
    }
}

/// What is hidden and yet in the project's history, which is there inside.
fn kept_by_git(plan: &BoxPlan) -> Option<String> {
    let hidden: Vec<&Path> = plan.hide.iter().filter_map(|path| path.strip_prefix(&plan.workspace.path).ok()).collect();
    let tracked = review::tracked(&plan.workspace.path, &hidden);
    let names: Vec<String> = tracked.iter().map(|path| boxfile::shown(&path.to_string_lossy())).collect();
    (!names.is_empty()).then(|| {
        format!(
            "box.hide: git keeps {}: its history can be read inside, and a commit of everything there would have it empty",
            names.join(", ")
        )
    })
}

/// The same for a box that was made before.
pub fn again(record: Record, home: &Home) -> Prepared {
    let sidecar_args = sidecar_args(&record, home);
    Prepared { record, sidecar_args, earlier: None }
}

/// Whether the project's coop.toml says something else than when the box was made or last brought up.
pub fn has_other_file(record: &Record, home: &Home) -> bool {
    let plan = &record.plan;
    let Some(file) = &plan.file else {
        return boxfile::discover(&plan.workspace.path, &caller::user_home(home)).is_some();
    };
    // A record of an older coop does not say.
    let Some(before) = &record.file_sha256 else { return false };
    boxfile::read(file, Whose::Project).ok().flatten().is_none_or(|now| now.sha256() != *before)
}

/// What the files of a project and of the user, and the caller, make of a box. Reads, and makes nothing.
fn plan(source: &v1::BoxSource, home: &Home) -> Result<Planned, PrepareError> {
    let directory = Path::new(&source.directory);
    if !directory.is_absolute() {
        return Err(PrepareError::Relative(directory.to_owned()));
    }
    let user_home = caller::user_home(home);
    let loaded = boxfile::load(directory, &user_home, home.path())?;
    if let Verdict::Needs(needs) = loaded.verdict(&Trust::new(home.path()))? {
        return Err(PrepareError::Untrusted(needs));
    }
    let at = Surroundings {
        home: user_home,
        coop_home: home.path().to_owned(),
        runtime_dir: config::runtime_dir(),
        start_dir: directory.to_owned(),
        file: loaded.source.as_ref().map(|source| source.path.clone()),
        shell: caller::shell(source),
    };
    let asked = Asked::of(source)?;
    let settings = |asked: &Asked| Ok::<_, PrepareError>(loaded.settings(overrides(asked, source)?));
    let earlier = earlier(home, &boxfile::place(&settings(&asked)?, &at));
    let asked = asked.over(earlier.clone().unwrap_or_default());
    let mut plan = boxfile::resolve(&settings(&asked)?, &at).map_err(|why| PrepareError::Plan(why.to_string()))?;
    submodules::guard(&mut plan);
    let file_sha256 = loaded.source.as_ref().map(boxfile::Source::sha256);
    Ok(Planned { plan, asked, earlier, file_sha256 })
}

/// What was asked for when this box was started before. A record that cannot be read is told when the box is made.
fn earlier(home: &Home, (name, workspace): &(String, PathBuf)) -> Option<Asked> {
    let record = Record::read(&home.session(&Name::parse(name).ok()?)).ok()?;
    record.asked.filter(|_| record.plan.workspace.path == *workspace)
}

fn overrides(asked: &Asked, source: &v1::BoxSource) -> Result<Overrides, PrepareError> {
    let asked = asked.clone();
    Ok(Overrides {
        image: asked.image,
        agent: asked.agent,
        command: asked.command,
        name: Some(source.name.clone()).filter(|name| !name.is_empty()),
        workspace_mode: asked.workspace_mode,
        network: asked.network,
        allow: asked.allow,
        publish: asked.publish,
        env: asked.env.into_iter().collect(),
        labels: asked.labels.into_iter().collect(),
        size: size(source)?,
        ..Overrides::default()
    })
}

fn size(source: &v1::BoxSource) -> Result<Option<(u16, u16)>, PrepareError> {
    let (Some(cols), Some(rows)) = (source.cols, source.rows) else { return Ok(None) };
    let side = |n: u32| u16::try_from(n).ok().filter(|n| *n > 0).ok_or(PrepareError::BadSize(cols, rows));
    Ok(Some((side(cols)?, side(rows)?)))
}

/// The variables that the plan gives the program, with their values.
fn variables(source: &v1::BoxSource, plan: &BoxPlan) -> BTreeMap<String, String> {
    let exported = plan.env.export.iter().filter_map(|name| Some((name.clone(), source.exported.get(name)?.clone())));
    exported.chain(plan.env.set.clone()).collect()
}

fn sidecar_args(record: &Record, home: &Home) -> Vec<OsString> {
    let plan = &record.plan;
    let mut args: Vec<OsString> = vec!["--label".into(), format!("{NAME_LABEL}={}", record.name).into()];
    for (label, value) in plan.session.labels.iter().filter(|(label, _)| *label != NAME_LABEL) {
        args.extend(["--label".into(), format!("{label}={value}").into()]);
    }
    args.extend(["--agent".into(), plan.agent.to_string().into()]);
    args.extend(["--box".into(), Record::path(&home.session(&record.name)).into()]);
    args.extend(["--restart".into(), plan.session.restart.to_string().into()]);
    args.extend(["--cols".into(), plan.session.cols.to_string().into()]);
    args.extend(["--rows".into(), plan.session.rows.to_string().into()]);
    args.extend(["--attach-size".into(), plan.session.attach_size.to_string().into()]);
    args.extend(["--cwd".into(), plan.workspace.path.clone().into()]);
    args.push("--".into());
    args.extend(plan.command.iter().map(OsString::from));
    args
}

pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_image_runs_by_itself_counts_where_nobody_says_what_to_run() {
        let argv = ["docker-entrypoint.sh", "node"].map(str::to_owned);
        let image = ImageRecord {
            reference: "node:22".into(),
            digest: String::new(),
            rootfs: PathBuf::new(),
            env: Vec::new(),
            argv: argv.to_vec(),
            user: Some("node".into()),
        };
        let plan = |command_is_open| BoxPlan { command: vec!["/bin/sh".into()], command_is_open, ..BoxPlan::default() };
        let mut open = plan(true);
        heed(&mut open, &image);
        assert_eq!(open.command, argv);
        assert!(open.warnings[0].contains("would run as node"), "{:?}", open.warnings);
        let mut said = plan(false);
        heed(&mut said, &ImageRecord { user: Some("root:root".into()), ..image.clone() });
        assert_eq!((said.command, said.warnings), (vec!["/bin/sh".to_owned()], Vec::new()));
        let mut bare = plan(true);
        heed(&mut bare, &ImageRecord { argv: Vec::new(), user: None, ..image });
        assert_eq!(bare.command, ["/bin/sh"]);
    }

    #[test]
    fn whose_size_counts_is_what_the_file_says() {
        let home = Home::at(Path::new("/home/me/.coop"));
        let mut plan = BoxPlan { command: vec!["sh".into()], ..BoxPlan::default() };
        plan.session.attach_size = boxfile::AttachSize::Fixed;
        let record = Record::new(Name::parse("a").unwrap(), 0, plan, BTreeMap::new());
        let args = sidecar_args(&record, &home);
        let at = args.iter().position(|word| word == "--attach-size").unwrap();
        assert_eq!(args[at + 1], "fixed");
    }
}
