package coop

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
