package coop

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	coopv1 "coop.dev/clients/go/coop/v1"
)

var fenced = regexp.MustCompile("(?ms)^```(go|text)\n(.*?)^```$")

// The programs of the README, built, and what the first prints.
func readme(t *testing.T) (programs []string, printed []byte) {
	t.Helper()
	// Go's own caches are in the home that is left below.
	home := os.Environ()
	dir := alone(t)
	for _, block := range fenced.FindAllSubmatch(must[[]byte](t)(os.ReadFile("../README.md")), -1) {
		if string(block[1]) == "text" {
			printed = block[2]
			continue
		}
		// Within this module, as a package of its own.
		place := must[string](t)(os.MkdirTemp("..", "readme-"))
		t.Cleanup(func() { os.RemoveAll(place) })
		if err := os.WriteFile(filepath.Join(place, "main.go"), block[2], 0o644); err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(dir, filepath.Base(place))
		build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./"+place)
		build.Env = home
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%s", block[2], said)
		}
		programs = append(programs, program)
	}
	if len(programs) != 2 {
		t.Fatalf("the README has %d programs: each is to be run here", len(programs))
	}
	bin := t.TempDir()
	if err := os.Symlink(binary(t), filepath.Join(bin, "coop")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return programs, printed
}

func TestEverythingASessionDoesIsInTheReadme(t *testing.T) {
	text := string(must[[]byte](t)(os.ReadFile("../README.md")))
	for method := range reflect.TypeFor[*Session]().Methods() {
		if !regexp.MustCompile(`\b` + method.Name + `\b`).MatchString(text) {
			t.Errorf("%s is not named", method.Name)
		}
	}
}

func TestTheGuideFromTmuxNamesWhatIsHere(t *testing.T) {
	text := string(must[[]byte](t)(os.ReadFile("../../../docs/migration.md")))
	_, text, _ = strings.Cut(text, "| in Go (`clients/go`) |\n")
	table, _, _ := strings.Cut(text, "\n\n")
	named := 0
	for _, row := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		cell := cells[len(cells)-1]
		if cell == "–" {
			t.Errorf("nothing is named for %s", cells[0])
		}
		for _, name := range regexp.MustCompile("`(?:Calls\\.)?([A-Z][A-Za-z]+)`").FindAllStringSubmatch(cell, -1) {
			named++
			known := false
			for _, kind := range []reflect.Type{reflect.TypeFor[*Session](), reflect.TypeFor[*Backend](), reflect.TypeFor[coopv1.CoopClient]()} {
				_, has := kind.MethodByName(name[1])
				known = known || has
			}
			if !known {
				t.Errorf("there is no %s", name[1])
			}
		}
	}
	if named < 15 {
		t.Errorf("only %d names were found in\n%s", named, table)
	}
}

func TestTheFirstProgramOfTheReadmePrintsWhatItSays(t *testing.T) {
	programs, printed := readme(t)
	said, err := exec.CommandContext(patiently(t), programs[0]).CombinedOutput()
	if err != nil || !bytes.Equal(said, printed) {
		t.Errorf("it prints\n%s%v, not\n%s", said, err, printed)
	}
}

func TestTheSecondPassesTheStartGivesItsMessageAndDeniesWhatIsAsked(t *testing.T) {
	programs, _ := readme(t)
	agent := playedHere(t, "trust")
	ctx, cancel := context.WithCancel(patiently(t))
	program := exec.CommandContext(ctx, programs[1])
	program.Stderr = os.Stderr
	out := must[io.ReadCloser](t)(program.StdoutPipe())
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer program.Wait()
	defer cancel()
	lines := bufio.NewScanner(out)
	until := func(wanted string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), wanted) {
				return
			}
		}
		t.Fatalf("it never prints %q", wanted)
	}
	until("delivered: true ")
	until("idle")
	tell(t, agent, "this needs permission")
	until("prompt")
	if err := agent.WaitText(patiently(t), "● denied"); err != nil {
		t.Fatal(err)
	}
	until("idle")
}
