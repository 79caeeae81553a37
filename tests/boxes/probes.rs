//! What `coop doctor` is told about this machine.

use coop::sandbox::{Finding, probe};

use crate::support::{coop, plain, start};

promise! {
    fn what_was_tried_agrees_with_what_boxes_do() {
        let found = probe(&coop());
        let of = |name: &str| found.iter().find(|finding| finding.name == name).unwrap_or_else(|| panic!("{name}: {found:?}"));
        for name in ["user namespaces", "user map", "mounts", "/proc", "confinement"] {
            assert!(of(name).ok && of(name).needed, "boxes can be made here: {:?}", of(name));
        }
        assert_eq!(of("landlock").ok, !start(&plain()).warnings().iter().any(|warning| warning.contains("Landlock")));
        for Finding { name, ok, detail, fix, .. } in &found {
            assert!(*ok || fix.is_some(), "{name}: {detail} without a way out");
            assert!(!detail.is_empty());
        }
        let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let own = format!(".probe-{}", std::process::id());
        assert_eq!(left.filter(|entry| entry.file_name().to_str() == Some(&own)).count(), 0);
    }
}

promise! {
    fn without_a_coop_to_start_nothing_works_and_that_is_said() {
        let found = probe(std::path::Path::new("/no/coop"));
        assert!(!found[0].ok && found[0].detail.contains("/no/coop"), "{found:?}");
        let looked_up = ["kernel settings", "cgroup v2"];
        assert!(found.iter().filter(|finding| !looked_up.contains(&finding.name)).all(|finding| !finding.ok));
    }
}
