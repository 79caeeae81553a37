//! From what a caller wants to what is started: the one place where a box's description becomes a plan.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::foundation::{self, Foundation, FoundationError, Told};
use super::home::Home;
use super::name::{BadName, Name};
use super::record::{ImageRecord, Record};
use crate::boxfile::{
    self, Agent, BoxPlan, FileError, Needs, NetworkMode, Overrides, Surroundings, Trust, TrustError, Verdict, Word,
    WorkspaceMode,
};
use crate::config;
use crate::proto::v1;

/// The label by which a session tells which box it is.
const NAME_LABEL: &str = "name";

/// A box that can be started.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub record: Record,
    /// The sidecar's words, without its socket.
    pub sidecar_args: Vec<OsString>,
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
    let mut plan = planned.map_err(|error| PrepareError::Plan(error.to_string()))??;
    let name = Name::parse(&plan.name)?;
    let Foundation { image, setup_build } = foundation::lay(&plan, home, told).await?;
    if let Some(image) = &image {
        heed(&mut plan, image);
    }
    let env = variables(&source, &plan);
    let path = source.exported.get("PATH").cloned();
    let record = Record { image, setup_build, path, ..Record::new(name, now_ms(), plan, env) };
    Ok(again(record, home))
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

/// The same for a box that was made before.
pub fn again(record: Record, home: &Home) -> Prepared {
    let sidecar_args = sidecar_args(&record, home);
    Prepared { record, sidecar_args }
}

/// What the files of a project and of the user, and the caller, make of a box. Reads, and makes nothing.
pub fn plan(source: &v1::BoxSource, home: &Home) -> Result<BoxPlan, PrepareError> {
    let directory = Path::new(&source.directory);
    if !directory.is_absolute() {
        return Err(PrepareError::Relative(directory.to_owned()));
    }
    let user_home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_else(|| home.path().to_owned());
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
        shell: std::env::var("SHELL").ok(),
    };
    let settings = loaded.settings(overrides(source)?);
    boxfile::resolve(&settings, &at).map_err(|why| PrepareError::Plan(why.to_string()))
}

fn overrides(source: &v1::BoxSource) -> Result<Overrides, PrepareError> {
    let agent =
        source.agent.as_deref().map(|word| Agent::from_word(word).ok_or(PrepareError::NoAgent(word.to_owned())));
    let pairs = |map: &BTreeMap<String, String>| map.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    Ok(Overrides {
        image: source.image.clone(),
        agent: agent.transpose()?,
        command: source.command.clone(),
        name: Some(source.name.clone()).filter(|name| !name.is_empty()),
        workspace_mode: match source.workspace_mode() {
            v1::WorkspaceMode::Unspecified => None,
            v1::WorkspaceMode::Rw => Some(WorkspaceMode::ReadWrite),
            v1::WorkspaceMode::Ro => Some(WorkspaceMode::ReadOnly),
            v1::WorkspaceMode::Overlay => Some(WorkspaceMode::Overlay),
        },
        network: match source.network() {
            v1::NetworkMode::Unspecified => None,
            v1::NetworkMode::Host => Some(NetworkMode::Host),
            v1::NetworkMode::None => Some(NetworkMode::None),
            v1::NetworkMode::Filtered => Some(NetworkMode::Filtered),
        },
        allow: source.allow.clone(),
        publish: source.publish.clone(),
        env: pairs(&source.env),
        labels: pairs(&source.labels),
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
