package coop

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var fenced = regexp.MustCompile("(?ms)^```(go|text)\n(.*?)^```$")

func TestTheProgramsOfTheReadmeBuildAndTheFirstPrintsWhatItSays(t *testing.T) {
	// Go's own caches are in the home that is left below.
	home := os.Environ()
	dir := alone(t)
	bin := t.TempDir()
	if err := os.Symlink(binary(t), filepath.Join(bin, "coop")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	blocks := fenced.FindAllSubmatch(must[[]byte](t)(os.ReadFile("../README.md")), -1)
	if len(blocks) < 3 || string(blocks[0][1]) != "go" || string(blocks[1][1]) != "text" {
		t.Fatal("the README begins with a program and what it prints")
	}
	programs := 0
	for _, block := range blocks {
		if string(block[1]) != "go" {
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
		if programs++; programs == 1 {
			said, err := exec.CommandContext(patiently(t), program).CombinedOutput()
			if err != nil || !bytes.Equal(said, blocks[1][2]) {
				t.Errorf("it prints\n%s%v, not\n%s", said, err, blocks[1][2])
			}
		}
	}
}
