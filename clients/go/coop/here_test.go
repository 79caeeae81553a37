package coop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSessionsAreFoundByLabelAndByDirectory(t *testing.T) {
	dir := alone(t)
	ctx := patiently(t)
	if found, err := List(ctx, Filter{}); len(found) != 0 || err != nil {
		t.Fatal(found, err)
	}
	if _, err := Find(ctx, Filter{}); !errors.Is(err, ErrNoSession) {
		t.Errorf("not %v: %v", ErrNoSession, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	witness := start(t, Program{Command: []string{"cat"}, Labels: map[string]string{"role": "witness", "rig": "a"}, Dir: dir})
	if only := must[*Session](t)(Here(ctx)); only.Address() != witness.Address() {
		t.Errorf("the only session is %s", only.Address())
	}
	mayor := start(t, Program{Command: []string{"cat"}, Labels: map[string]string{"role": "mayor", "rig": "a"}, Dir: "/"})
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		filter   Filter
		expected []*Session
	}{
		{Filter{}, []*Session{witness, mayor}},
		{Filter{Labels: map[string]string{"role": "witness"}}, []*Session{witness}},
		{Filter{Labels: map[string]string{"role": "mayor"}, Dir: "/"}, []*Session{mayor}},
		// As `coop ls --cwd`: what is below counts, what only begins with the same letters or is above does not.
		{Filter{Dir: "/"}, []*Session{witness, mayor}},
		{Filter{Dir: link}, []*Session{witness}},
		{Filter{Dir: below}, nil},
		{Filter{Dir: dir[:len(dir)-1]}, nil},
		{Filter{Labels: map[string]string{"role": ""}}, nil},
	} {
		found, err := List(ctx, one.filter)
		places := map[string]bool{}
		for _, session := range found {
			places[session.Address] = true
		}
		ok := err == nil && len(found) == len(one.expected)
		for _, session := range one.expected {
			ok = ok && places[session.Address()]
		}
		if !ok {
			t.Errorf("%v finds %v, %v", one.filter, found, err)
		}
	}
	if _, err := Here(ctx); !errors.Is(err, ErrManySessions) || !strings.Contains(err.Error(), mayor.Address()) {
		t.Errorf("not %v with their addresses: %v", ErrManySessions, err)
	}
	t.Setenv("COOP_SOCKET", strings.TrimPrefix(mayor.Address(), "unix:"))
	if named := must[*Session](t)(Here(ctx)); named.Address() != mayor.Address() {
		t.Errorf("COOP_SOCKET leads to %s", named.Address())
	}
}

func TestWhatAKilledCoopLeavesBehindIsNoSession(t *testing.T) {
	alone(t)
	ctx := patiently(t)
	session := start(t, Program{Command: []string{"cat"}})
	if err := syscall.Kill(coopPid(t, session), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-session.started
	if found, err := List(ctx, Filter{}); len(found) != 0 || err != nil {
		t.Errorf("found: %v, %v", found, err)
	}
	if alive, err := session.Alive(ctx); alive || err != nil {
		t.Errorf("alive: %v, %v", alive, err)
	}
}

func TestASessionThatWantsATokenIsListedButTellsNothing(t *testing.T) {
	alone(t)
	session := start(t, Program{Command: []string{"cat"}}, WithToken(secret))
	found, err := List(patiently(t), Filter{})
	if err != nil || len(found) != 1 || found[0].Address != session.Address() || !errors.Is(found[0].Err, ErrUnauthorized) {
		t.Errorf("found: %v, %v", found, err)
	}
	t.Setenv("COOP_AUTH_TOKEN", secret)
	must[*Session](t)(Here(patiently(t))).Close()
}

func TestASessionThatDoesNotTellIsNotTakenForNone(t *testing.T) {
	alone(t)
	ctx := patiently(t)
	session := start(t, Program{Command: []string{"cat"}, Labels: map[string]string{NameLabel: "red"}}, WithToken(secret))
	for _, token := range []string{"", "wrong"} {
		alive, err := (&Backend{Token: token}).HasSession("red")
		if alive || !errors.Is(err, ErrUntold) || !errors.Is(err, ErrUnauthorized) || !strings.Contains(err.Error(), session.Address()) {
			t.Errorf("with the token %q: %v, %v", token, alive, err)
		}
	}
	if _, err := Find(ctx, Filter{Dir: "/"}); !errors.Is(err, ErrUntold) || errors.Is(err, ErrNoSession) {
		t.Errorf("not %v: %v", ErrUntold, err)
	}
	told := Backend{Token: secret}
	for name, expected := range map[string]bool{"red": true, "blue": false} {
		if alive, err := told.HasSession(name); alive != expected || err != nil {
			t.Errorf("%s: %v, %v", name, alive, err)
		}
	}
	// One that fits is found, whatever the others keep to themselves.
	other := start(t, Program{Command: []string{"cat"}, Labels: map[string]string{NameLabel: "green"}})
	if alive, err := (&Backend{}).HasSession("green"); !alive || err != nil {
		t.Errorf("%s: %v, %v", other.Address(), alive, err)
	}
	// One that hangs.
	pid := coopPid(t, other)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	alive, err := told.HasSession("green")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if alive || !errors.Is(err, ErrUntold) {
		t.Errorf("of one that hangs: %v, %v", alive, err)
	}
}

func TestADirectoryThatOthersCanReachIsNotSearched(t *testing.T) {
	dir := alone(t)
	if err := os.Mkdir(filepath.Join(dir, "coop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := List(patiently(t), Filter{}); err == nil || !strings.Contains(err.Error(), "mode 700") {
		t.Errorf("it was searched: %v", err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "relative")
	if found := RuntimeDir(); !strings.HasPrefix(found, "/tmp/coop-") {
		t.Errorf("%s is looked into", found)
	}
}

func TestAProgramIsStartedAsAskedFor(t *testing.T) {
	dir := alone(t)
	t.Setenv("COOP_PORT", "nonsense")
	script := `echo "in $PWD with $COLOUR and [$1] ${#HIDDEN} [$COOP_AUTH_TOKEN]"; exec cat`
	session := start(t, Program{
		Command: []string{"bash", "-c", script, "bash", "one word"},
		Dir:     dir,
		Env:     map[string]string{"COLOUR": "a=b c"},
		Secrets: map[string]string{"HIDDEN": "hush"},
		Flags:   []string{"--cols", "120"},
	}, WithToken(secret))
	if _, err := Dial(patiently(t), session.Address()); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("no token is asked for: %v", err)
	}
	words := string(must[[]byte](t)(os.ReadFile("/proc/" + strconv.Itoa(coopPid(t, session)) + "/cmdline")))
	if strings.Contains(words, "hush") || strings.Contains(words, secret) || !strings.Contains(words, "COLOUR") {
		t.Errorf("others can read %q", words)
	}
	if err := session.WaitText(patiently(t), "in "+dir+" with a=b c and [one word] 4 []"); err != nil {
		t.Error(must[string](t)(session.Screen(patiently(t))), err)
	}
	if words = strings.Join(session.AttachCommand(), " "); words != "coop attach --socket "+strings.TrimPrefix(session.Address(), "unix:") {
		t.Error(words)
	}
}

func TestACoopThatDoesNotStartSaysWhy(t *testing.T) {
	alone(t)
	_, err := Start(patiently(t), Program{Binary: binary(t), Command: []string{"cat"}, Flags: []string{"--cols", "0"}})
	if err == nil || !strings.Contains(err.Error(), "between 1 and 1000") {
		t.Errorf("no reason: %v", err)
	}
	if _, err = Start(patiently(t), Program{Binary: "/no/such/coop", Command: []string{"cat"}}); err == nil {
		t.Error("it was started")
	}
	// One that never says where it listens.
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	silent := filepath.Join(t.TempDir(), "silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = Start(ctx, Program{Binary: silent, Command: []string{"cat"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("not given up: %v", err)
	}
}

func TestACoopThatCannotBeReachedIsNotLeftBehind(t *testing.T) {
	dir := alone(t)
	liar, file := filepath.Join(dir, "liar"), filepath.Join(dir, "pid")
	script := "#!/bin/sh\necho $$ >" + file + "\necho '{\"url\":null,\"socket\":\"/no/such/socket\"}'\nexec sleep 1000\n"
	if err := os.WriteFile(liar, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(patiently(t), Program{Binary: liar, Command: []string{"cat"}}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("not %v: %v", ErrUnreachable, err)
	}
	if pid := must[int](t)(strconv.Atoi(strings.TrimSpace(string(must[[]byte](t)(os.ReadFile(file)))))); runs(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

func TestKillEndsEveryProcessAndReturnsWhenTheyAreGone(t *testing.T) {
	dir := alone(t)
	ctx := patiently(t)
	for _, flags := range [][]string{nil, {"--port", "0"}} {
		file := filepath.Join(dir, "pid")
		os.Remove(file)
		session := start(t, Program{Command: []string{"bash", "-c", `sleep 1000 & echo $! >"$1"; echo started; wait`, "bash", file}, Flags: flags})
		if err := session.WaitText(ctx, "started"); err != nil {
			t.Fatal(err)
		}
		status := must[*Status](t)(session.Status(ctx))
		address := session.Address()
		if status.Url != nil {
			address = status.GetUrl()
		}
		// By somebody who did not start it.
		other := must[*Session](t)(Dial(ctx, address))
		if err := other.Kill(ctx); err != nil {
			t.Fatal(err)
		}
		grandchild := must[int](t)(strconv.Atoi(strings.TrimSpace(string(must[[]byte](t)(os.ReadFile(file))))))
		for _, pid := range []int{int(status.GetPid()), grandchild} {
			if runs(pid) {
				t.Errorf("process %d still runs", pid)
			}
		}
		if err := other.Kill(ctx); err != nil {
			t.Errorf("a second kill: %v", err)
		}
		other.Close()
		<-session.started
	}
}

// The process of coop itself, by the name of its socket.
func coopPid(t *testing.T, session *Session) int {
	t.Helper()
	return must[int](t)(strconv.Atoi(strings.TrimSuffix(filepath.Base(session.Address()), ".sock")[len("coop-"):]))
}

// Whether a process runs; one that only waits to be reaped does not.
func runs(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z")
}
