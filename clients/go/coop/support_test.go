package coop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// The longest that one promise may take.
const patience = 60 * time.Second

// The coop that is tested.
func binary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("COOP_BIN")
	if path == "" {
		found, err := exec.LookPath("coop")
		if err != nil {
			t.Fatal("set COOP_BIN to the coop to test, or put it on the PATH")
		}
		path = found
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func patiently(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Gives the test a runtime directory of its own, and no coop to take for meant.
func alone(t testing.TB) string {
	t.Helper()
	// Not the test's own directory: its name is too long for a socket.
	dir, err := os.MkdirTemp("", "coop-go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	variables := map[string]string{
		"XDG_RUNTIME_DIR": dir, "HOME": dir, "XDG_STATE_HOME": "", "CLAUDE_CONFIG_DIR": "",
		"COOP_URL": "", "COOP_SOCKET": "", "COOP_AUTH_TOKEN": "", "COOP_AUTH_TOKEN_FILE": "",
	}
	for name, value := range variables {
		t.(interface{ Setenv(string, string) }).Setenv(name, value)
	}
	return dir
}

// Starts a session that ends with the test.
func start(t testing.TB, program Program, options ...Option) *Session {
	t.Helper()
	program.Binary = binary(t)
	session, err := Start(patiently(t), program, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := session.Kill(ctx); err != nil {
			t.Error(err)
		}
		session.Close()
	})
	return session
}

// A shell that has printed its prompt.
func shell(t testing.TB, flags []string, options ...Option) *Session {
	t.Helper()
	program := Program{Command: []string{"bash", "--norc"}, Env: map[string]string{"PS1": "ready> "}, Flags: flags}
	session := start(t, program, options...)
	if err := session.WaitText(patiently(t), "ready>"); err != nil {
		t.Fatal(err)
	}
	return session
}

// An agent, played by a script, that waits for a message – or for trust.
func played(t testing.TB, arguments ...string) *Session {
	t.Helper()
	alone(t)
	return playedHere(t, arguments...)
}

// The same where the test is alone already.
func playedHere(t testing.TB, arguments ...string) *Session {
	t.Helper()
	script, err := filepath.Abs("../../testdata/agent")
	if err != nil {
		t.Fatal(err)
	}
	command := append([]string{"bash", script, binary(t)}, arguments...)
	flags := []string{"--agent", "claude", "--groom", "manual", "--cols", "100", "--rows", "30"}
	session := start(t, Program{Command: command, Flags: flags})
	if len(arguments) == 0 {
		if err := session.WaitIdle(patiently(t)); err != nil {
			t.Fatal(err)
		}
	}
	return session
}

// Gives an idle agent a message, however long a busy machine takes to see it arrive.
func tell(t testing.TB, agent *Session, message string) Delivery {
	t.Helper()
	long := uint32(patience.Milliseconds())
	delivery, err := agent.NudgeWith(patiently(t), &coopv1.NudgeRequest{Message: message, TimeoutMs: &long})
	if err != nil || !delivery.Delivered {
		t.Fatal(delivery, err)
	}
	return delivery
}

func must[T any](t testing.TB) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
