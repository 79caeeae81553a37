//! Boxes that stand on an image from a registry, and sandboxes of others that stand in a box.

use std::process::Command;

use crate::house::House;
use crate::image::rootfs;
use crate::pushed::Pushed;
use crate::registry_program::RegistryProgram;

promise! {
    fn an_image_of_a_registry_is_the_root_of_a_box_and_stays_for_as_long_as_that() {
        let house = House::new();
        let root = house.scratch.path("rootfs");
        rootfs(&root, "pulled");
        let packed = Command::new("tar").arg("-C").arg(&root).args(["-cf", "-", "."]).output().unwrap();
        let registry = RegistryProgram::open_to_all();
        Pushed::of(&[packed.stdout]).push(&registry.address, "team/small", "1", "");
        let image = format!("{}/team/small:1", registry.address);
        house.ok(&["image", "pull", &image]);
        // What is there is not asked for again.
        drop(registry);
        house.up(&["--image", &image]);
        assert_eq!(house.inside("cat /etc/mark"), ("pulled\n".to_owned(), true));
        assert_eq!(house.inside("echo mine >/etc/mark && cat /etc/mark"), ("mine\n".to_owned(), true));
        let refused = house.refused(&["image", "rm", &image]);
        assert!(refused.contains("in use"), "{refused}");
        assert_eq!(house.inside("cat /etc/mark"), ("mine\n".to_owned(), true));
        house.removes();
        house.ok(&["image", "rm", &image]);
        assert!(!house.ok(&["image", "ls"]).contains("team/small"));
    }
}

/// A sandbox as agents make one around single commands.
const BUBBLEWRAP: &str =
    "bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev --tmpfs /tmp -- /bin/sh -c 'echo in'";

promise! {
    fn bubblewrap_works_in_a_box_where_the_file_allows_it() {
        let house = House::new();
        house.says("[network]\nmode = \"none\"\n");
        house.up(&[]);
        let (said, done) = house.inside(BUBBLEWRAP);
        assert!(!done && !said.contains("not found"), "{said}");
        house.removes();
        house.says("[box]\nnested = true\n");
        house.up(&[]);
        assert_eq!(house.inside(BUBBLEWRAP), ("in\n".to_owned(), true));
    }
}
