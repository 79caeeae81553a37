//! The text of a diff: git's form, and nothing in it can deceive its reader.

use super::super::{Options, SHOWN_BYTES_MAX, Style};
use super::bench::Bench;

fn diff_of(bench: &Bench, style: Style) -> String {
    let mut out = Vec::new();
    bench.overlay.changes(&Options::default()).unwrap().write_diff(&mut out, style).unwrap();
    String::from_utf8(out).unwrap()
}

/// The diff of what a script does to a project.
fn diff(project: &str, script: &str) -> String {
    let bench = Bench::on(project);
    bench.in_box(script);
    diff_of(&bench, Style::Plain)
}

#[test]
fn a_diff_reads_as_gits_does() {
    let text = diff(
        "seq 1 20 >numbers; printf 'last' >end; echo x >gone",
        "sed -i 's/^9$/nine/' numbers; printf 'last\n' >end; rm gone; : >void",
    );
    let expected = "\
diff --git a/end b/end
--- a/end
+++ b/end
@@ -1 +1 @@
-last
\\ No newline at end of file
+last
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/numbers b/numbers
--- a/numbers
+++ b/numbers
@@ -6,7 +6,7 @@
 6
 7
 8
-9
+nine
 10
 11
 12
diff --git a/void b/void
new file mode 100644
";
    assert_eq!(text, expected);
}

#[test]
fn modes_links_and_binaries_are_said_as_git_says_them() {
    let text =
        diff("echo x >a; printf 'a\\0b' >bin; ln -s a link", "chmod 755 a; printf 'a\\0c' >bin; rm link; echo a >link");
    let expected = "\
diff --git a/a b/a
old mode 100644
new mode 100755
diff --git a/bin b/bin
index 20b5be91886d0b6f26dc98a225c0dac05fe2c86e..88f37001cec36655decf891d4244853aaa51a00a 100644
GIT binary patch
literal 3
KcmYdfNCp4_i2%g_

literal 3
KcmYdfNCE%>hycU@

diff --git a/link b/link
deleted file mode 120000
--- a/link
+++ /dev/null
@@ -1 +0,0 @@
-a
\\ No newline at end of file
diff --git a/link b/link
new file mode 100644
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+a
";
    assert_eq!(text, expected);
}

#[test]
fn what_git_cannot_say_stands_in_notes() {
    let text = diff(
        "mkdir e; echo x >a; mkdir d",
        "rmdir e; mkdir n; chmod 600 a; mkfifo p; chmod 700 d; echo s >s; chmod 400 s",
    );
    let expected = "\
# a: mode 0600, was 0644
# d: mode 0700, was 0755
# e: empty directory deleted
# n: empty directory added
# p: named pipe added
# s: mode 0400
diff --git a/s b/s
new file mode 100644
--- /dev/null
+++ b/s
@@ -0,0 +1 @@
+s
";
    // Without permissions for others a diff as an ordinary user reads the same: the owner may read it.
    assert_eq!(text, expected);
}

#[test]
fn a_file_that_is_too_large_is_named_and_not_shown() {
    let bench = Bench::on("echo x >small");
    bench.in_box(&format!("head -c {} /dev/zero | tr '\\0' 'x' >large; echo y >small", SHOWN_BYTES_MAX + 1));
    let text = diff_of(&bench, Style::Plain);
    assert!(text.contains(&format!("# large: {} bytes, more than", SHOWN_BYTES_MAX + 1)), "{text}");
    assert!(text.contains("+y") && text.len() < 1000, "{text}");
}

#[test]
fn a_binary_file_is_whole_for_git_and_a_line_for_eyes_or_when_it_is_too_large() {
    let bench = Bench::on("printf 'a\\0b' >bin; printf 'm\\0' >mode");
    bench.in_box(&format!("rm bin; chmod 755 mode; head -c {} /dev/zero >large", SHOWN_BYTES_MAX + 1));
    let text = diff_of(&bench, Style::Plain);
    let large = format!(
        "new file mode 100644\nBinary files /dev/null and b/large differ\n# large: {} bytes, more than",
        SHOWN_BYTES_MAX + 1
    );
    assert!(
        text.contains("\nindex 20b5be91886d0b6f26dc98a225c0dac05fe2c86e..0000000000000000000000000000000000000000\n"),
        "{text}"
    );
    assert!(text.contains("GIT binary patch\nliteral 0\n") && text.contains(&large), "{text}");
    assert!(text.ends_with("diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n"), "{text}");
    let seen = diff_of(&bench, Style::Terminal { colour: false });
    assert!(seen.contains("\nBinary files a/bin and /dev/null differ\n") && !seen.contains("GIT"), "{seen}");
}

#[test]
fn on_a_terminal_control_characters_are_shown_not_done() {
    let bench = Bench::on("echo harmless >a");
    bench.in_box("printf 'rm -rf /\\033[2K\\rharmless\\n' >a");
    let plain = diff_of(&bench, Style::Plain);
    assert!(plain.contains("+rm -rf /\x1b[2K\rharmless\n"), "{plain:?}");
    let shown = diff_of(&bench, Style::Terminal { colour: false });
    assert!(shown.contains("+rm -rf /^[[2K^Mharmless\n") && !shown.contains('\x1b'), "{shown:?}");
    let coloured = diff_of(&bench, Style::Terminal { colour: true });
    assert!(coloured.contains("\x1b[32m+rm -rf /^[[2K^Mharmless\x1b[m\n"), "{coloured:?}");
}

#[test]
fn a_reader_that_leaves_ends_the_diff() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let bench = Bench::on(":");
    bench.in_box("echo x >a");
    let error = bench.changes().write_diff(&mut Closed, Style::Plain).unwrap_err();
    assert!(matches!(error, super::super::ReviewError::Output(_)), "{error}");
}
