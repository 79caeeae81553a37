//! Which box is meant: the one that is named, that of this directory, or the only one.

use std::path::Path;

use crate::client::contains;
use crate::proto::v1::Box;

/// The box of this name, or without one: the nearest whose workspace holds `here`, or else the only one.
pub fn pick(mut boxes: Vec<Box>, name: Option<&str>, here: &Path) -> Result<Box, String> {
    if boxes.is_empty() {
        return Err(no_box(name));
    }
    if let Some(name) = name {
        let names = names(&boxes);
        let found = boxes.into_iter().find(|found| found.name == name);
        return found.ok_or_else(|| format!("there is no box {name:?}; there is {names}"));
    }
    match (near(&boxes, here).is_empty(), boxes.len()) {
        (true, 1) => Ok(boxes.remove(0)),
        (true, _) => Err(format!("there are several boxes: name one of {}", names(&boxes))),
        (false, _) => pick_here(&boxes, here),
    }
}

/// The nearest box whose workspace holds `here`.
pub fn pick_here(boxes: &[Box], here: &Path) -> Result<Box, String> {
    let mut near = near(boxes, here);
    match near.len() {
        1 => Ok(near.remove(0)),
        0 if boxes.is_empty() => Err(no_box(None)),
        0 => Err(format!("no box belongs to this directory: name one of {}", names(boxes))),
        _ => Err(format!("several boxes belong to this directory: name one of {}", names(&near))),
    }
}

/// Those whose workspace holds `here`, the nearest.
fn near(boxes: &[Box], here: &Path) -> Vec<Box> {
    let depth = |found: &Box| Path::new(&found.workspace).components().count();
    let mut near: Vec<Box> =
        boxes.iter().filter(|found| contains(Path::new(&found.workspace), here)).cloned().collect();
    let deepest = near.iter().map(depth).max();
    near.retain(|found| Some(depth(found)) == deepest);
    near
}

pub fn no_box(name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {name:?}")).unwrap_or_default();
    format!("there is no box{name}: `coop up` makes one from the directory it is called in")
}

fn names(boxes: &[Box]) -> String {
    boxes.iter().map(|found| found.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(list: &[(&str, &str)]) -> Vec<Box> {
        let one = |(name, workspace): &(&str, &str)| Box {
            name: (*name).to_owned(),
            workspace: (*workspace).to_owned(),
            ..Box::default()
        };
        list.iter().map(one).collect()
    }

    fn picked(list: &[(&str, &str)], name: Option<&str>, here: &str) -> Result<String, String> {
        pick(boxes(list), name, Path::new(here)).map(|found| found.name)
    }

    #[test]
    fn a_name_goes_before_the_directory_and_the_directory_before_the_only_one() {
        let list = [("red", "/no/a"), ("blue", "/no/b"), ("inner", "/no/a/sub")];
        assert_eq!(picked(&list, Some("blue"), "/no/a").as_deref(), Ok("blue"));
        assert_eq!(picked(&list, None, "/no/a").as_deref(), Ok("red"));
        assert_eq!(picked(&list, None, "/no/a/sub/deep").as_deref(), Ok("inner"));
        assert_eq!(picked(&list[..1], None, "/elsewhere").as_deref(), Ok("red"));
    }

    #[test]
    fn what_is_only_for_this_directory_takes_no_other() {
        let list = boxes(&[("red", "/no/a")]);
        assert_eq!(pick_here(&list, Path::new("/no/a/sub")).map(|found| found.name).as_deref(), Ok("red"));
        assert!(pick_here(&list, Path::new("/no")).unwrap_err().ends_with("name one of red"));
    }

    #[test]
    fn what_is_not_clear_is_asked_for_by_its_names() {
        let list = [("red", "/no/a"), ("blue", "/no/a")];
        assert!(picked(&list, None, "/no/a").unwrap_err().ends_with("name one of red, blue"));
        assert!(picked(&list, None, "/else").unwrap_err().contains("several boxes: name one of red, blue"));
        assert_eq!(picked(&list, Some("green"), "/").unwrap_err(), "there is no box \"green\"; there is red, blue");
        assert!(picked(&[], None, "/").unwrap_err().contains("coop up"));
    }
}
