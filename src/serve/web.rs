//! The web pages of a session and of all boxes: their files, embedded in the program, with the headers that keep them
//! harmless.

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::get;
use sha2::{Digest, Sha256};

/// Where the pages' files lie; the page itself is at `/`. Addresses in it are relative, so that a proxy may put a path before them.
pub const FOLDER: &str = "/web/";

/// What a browser lets the page do. Scripts and style sheets come from here alone, texts never become markup
/// (`require-trusted-types-for`), calls go nowhere else. xterm.js writes colours into `style` attributes, which its
/// renderer cannot do without; its style sheets go through `sheets.js` instead.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
    img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// One file of the page.
struct File {
    /// Its path.
    path: &'static str,
    content_type: &'static str,
    content: &'static [u8],
}

macro_rules! files {
    ($($name:literal $content_type:ident),* $(,)?) => {
        &[$(File { path: concat!("/web/", $name), content_type: $content_type, content: include_bytes!(concat!("web/", $name)) }),*]
    };
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";
const TEXT: &str = "text/plain; charset=utf-8";

const HTML: &str = "text/html; charset=utf-8";

/// The page of a session.
const SESSION: File = File { path: "/", content_type: HTML, content: include_bytes!("web/index.html") };

/// The page of all boxes, which the daemon serves.
const BOXES: File = File { path: "/", content_type: HTML, content: include_bytes!("web/boxes/index.html") };

/// What the page of all boxes has besides.
const FILES_OF_BOXES: &[File] = files![
    "boxes/acts.js" JS,
    "boxes/ansi.js" JS,
    "boxes/boxes.css" CSS,
    "boxes/changes.js" JS,
    "boxes/create.js" JS,
    "boxes/logs.js" JS,
    "boxes/main.js" JS,
    "boxes/order.js" JS,
    "boxes/picture.js" JS,
    "boxes/talk.js" JS,
    "boxes/tile.js" JS,
    "boxes/watch.js" JS,
    "boxes/words.js" JS,
];

const FILES: &[File] = files![
    "api.js" JS,
    "ask.js" JS,
    "badge.js" JS,
    "banner.js" JS,
    "base.css" CSS,
    "card.js" JS,
    "colours.css" CSS,
    "composer.js" JS,
    "dialog.js" JS,
    "dom.js" JS,
    "gate.js" JS,
    "icon.svg" SVG,
    "info.js" JS,
    "keys.js" JS,
    "layout.css" CSS,
    "lines.js" JS,
    "link.js" JS,
    "main.js" JS,
    "met.js" JS,
    "palette.js" JS,
    "panel.js" JS,
    "parts.css" CSS,
    "prompt.js" JS,
    "questions.js" JS,
    "quiet.js" JS,
    "receipts.js" JS,
    "sheets.js" JS,
    "shortcuts.js" JS,
    "state.js" JS,
    "terminal.js" JS,
    "theme.js" JS,
    "token.js" JS,
    "transcript.js" JS,
    "trouble.js" JS,
    "why.js" JS,
    "vendor/LICENSE.addon-unicode11" TEXT,
    "vendor/LICENSE.xterm" TEXT,
    "vendor/addon-unicode11.mjs" JS,
    "vendor/xterm.css" CSS,
    "vendor/xterm.mjs" JS,
];

/// A file with its mark: what it holds, so that a browser asks whether it changed instead of for all of it.
type Marked = (&'static File, String);

static OF_A_SESSION: LazyLock<Vec<Marked>> =
    LazyLock::new(|| std::iter::once(&SESSION).chain(FILES).map(marked).collect());

static OF_ALL_BOXES: LazyLock<Vec<Marked>> =
    LazyLock::new(|| std::iter::once(&BOXES).chain(FILES).chain(FILES_OF_BOXES).map(marked).collect());

fn marked(file: &'static File) -> Marked {
    let digest: String = Sha256::digest(file.content)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    (file, format!("\"{digest}\""))
}

/// Whether a path is one of a page's files, which need no token.
pub fn has(path: &str) -> bool {
    path == SESSION.path || path.starts_with(FOLDER)
}

/// The page of a session.
pub fn routes<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    served(router, &OF_A_SESSION)
}

/// The page of all boxes.
pub fn boxes_routes<S: Clone + Send + Sync + 'static>(router: Router<S>) -> Router<S> {
    served(router, &OF_ALL_BOXES)
}

fn served<S: Clone + Send + Sync + 'static>(mut router: Router<S>, files: &'static [Marked]) -> Router<S> {
    for (file, mark) in files {
        router = router.route(file.path, get(async move |headers: HeaderMap| respond(file, mark, &headers)));
    }
    router
}

fn respond(file: &File, mark: &str, headers: &HeaderMap) -> Response<Body> {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|marks| marks.to_str().ok());
    let unchanged = known.is_some_and(|marks| marks.split(',').any(|one| one.trim().trim_start_matches("W/") == mark));
    let mut response = Response::new(if unchanged { Body::empty() } else { Body::from(file.content) });
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    if let Ok(mark) = HeaderValue::from_str(mark) {
        headers.insert(header::ETAG, mark);
    }
    // Kept, but asked for again each time: a page of one version never runs with files of another.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    secure(headers, POLICY);
    response
}

/// What every page of ours says about itself.
pub fn secure(headers: &mut HeaderMap, policy: &'static str) {
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn folder() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/serve/web"))
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        let files = std::fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file());
        files.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_files_of_others_are_as_they_were_published() {
        let vendor = folder().join("vendor");
        let sums = std::fs::read_to_string(vendor.join("SHA256SUMS")).unwrap();
        let mut recorded = BTreeSet::from(["SHA256SUMS".to_owned(), "update".to_owned()]);
        for (sum, name) in sums.lines().filter_map(|line| line.split_once("  ")) {
            let digest = Sha256::digest(std::fs::read(vendor.join(name)).unwrap());
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digest, sum, "{name} was changed: run src/serve/web/vendor/update");
            recorded.insert(name.to_owned());
        }
        assert_eq!(names(&vendor), recorded, "every file there is recorded, and the other way round");
    }

    #[test]
    fn every_file_of_the_pages_is_served() {
        let served: BTreeSet<String> = FILES
            .iter()
            .chain(FILES_OF_BOXES)
            .filter_map(|file| file.path.strip_prefix(FOLDER))
            .map(str::to_owned)
            .collect();
        let mut found = names(folder());
        let below = |name: &str| -> Vec<String> {
            names(&folder().join(name)).into_iter().map(|file| format!("{name}/{file}")).collect()
        };
        found.extend(["vendor", "boxes"].into_iter().flat_map(below));
        let kept_here = ["index.html", "boxes/index.html", "vendor/SHA256SUMS", "vendor/VERSIONS", "vendor/update"];
        found.retain(|name| !kept_here.contains(&name.as_str()));
        assert_eq!(served, found);
    }

    #[test]
    fn what_a_file_imports_and_a_page_asks_for_is_there() {
        for files in [&OF_A_SESSION, &OF_ALL_BOXES] {
            for (file, _) in files.iter().filter(|(file, _)| !file.path.contains("/vendor/")) {
                let text = String::from_utf8_lossy(file.content);
                let here = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                let above = here.rsplit_once('/').map_or("", |(folder, _)| folder);
                let named = |before: &str, folder: &str| -> Vec<String> {
                    let after = text.split(before).skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
                    after.map(|name| format!("{folder}/{name}")).collect()
                };
                let imported = [named(" from \"./", here), named(" from \"../", above)];
                let linked = [named("href=\"web/", "/web"), named("src=\"web/", "/web")];
                for path in imported.into_iter().chain(linked).flatten() {
                    assert!(files.iter().any(|(file, _)| file.path == path), "{} wants {path}", file.path);
                }
            }
        }
    }
}
