package coop

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

const secret = "client-secret"

func TestASessionIsUsedOverTCPWithATokenAndOverItsSocket(t *testing.T) {
	dir := alone(t)
	socket := filepath.Join(dir, "s")
	first := shell(t, []string{"--port", "0", "--socket", socket}, WithToken(secret))
	for _, address := range []string{"unix:" + socket, tcp(t, first)} {
		session := must[*Session](t)(Dial(patiently(t), address, WithToken(secret)))
		marker := "over-" + strings.SplitN(address, ":", 2)[0]
		if _, err := session.Type(patiently(t), "echo "+marker+"-$((40+2))", true); err != nil {
			t.Fatal(err)
		}
		if err := session.WaitText(patiently(t), marker+"-42"); err != nil {
			t.Fatal(err)
		}
		text := must[string](t)(session.Screen(patiently(t)))
		if !strings.Contains(text, "\n"+marker+"-42\n") {
			t.Errorf("the screen shows %q", text)
		}
		if shown := session.Address(); shown != address {
			t.Errorf("%s is shown as %s", address, shown)
		}
		session.Close()
	}
}

// The TCP address of a session that listens on a port, too.
func tcp(t *testing.T, session *Session) string {
	t.Helper()
	if !strings.HasPrefix(session.Address(), "unix:") {
		return session.Address()
	}
	// The child is told both.
	if _, err := session.Type(patiently(t), "echo url=$COOP_URL=", true); err != nil {
		t.Fatal(err)
	}
	if err := session.WaitText(patiently(t), "url=http"); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(must[string](t)(session.Screen(patiently(t))), "url=http")
	address, _, _ := strings.Cut(rest, "=")
	return "http" + address
}

func TestWhoMayNotAndWhatIsNotThereIsToldAtOnce(t *testing.T) {
	dir := alone(t)
	session := shell(t, []string{"--port", "0"}, WithToken(secret))
	for _, options := range [][]Option{nil, {WithToken("wrong")}} {
		if _, err := Dial(patiently(t), session.Address(), options...); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("not %v: %v", ErrUnauthorized, err)
		} else if strings.Contains(err.Error(), "wrong\"") {
			t.Errorf("the token is shown: %v", err)
		}
	}
	if _, err := Dial(patiently(t), session.Address(), WithTokenFile(filepath.Join(dir, "none"))); err == nil {
		t.Error("a token file that is not there was read")
	}
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	listener.Close()
	for _, address := range []string{"http://" + listener.Addr().String(), "unix:" + dir + "/none"} {
		if _, err := Dial(patiently(t), address); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: not %v: %v", address, ErrUnreachable, err)
		}
	}
}

func TestAddressesAreReadAsPeopleWriteThem(t *testing.T) {
	for address, expected := range map[string]string{
		"http://127.0.0.1:80/": "127.0.0.1:80 http://127.0.0.1:80 false",
		"localhost:8080":       "localhost:8080 http://localhost:8080 false",
		"http://[::1]:9":       "[::1]:9 http://[::1]:9 false",
		"https://coop.example": "coop.example:443 https://coop.example true",
		"unix:/tmp/a":          "unix:/tmp/a unix:/tmp/a false",
		"unix:///tmp/a":        "unix:/tmp/a unix:/tmp/a false",
	} {
		target, shown, secure, err := parse(address)
		if got := strings.Join([]string{target, shown, map[bool]string{true: "true", false: "false"}[secure]}, " "); err != nil || got != expected {
			t.Errorf("%s is %s, %v", address, got, err)
		}
	}
	for _, address := range []string{"", "unix:", "ftp://host", "http://", "http://host/api/v1", "/tmp/a", "http://u:p@host:1", "http://host:1?token=a"} {
		if target, _, _, err := parse(address); err == nil {
			t.Errorf("%q became %s", address, target)
		}
	}
}

func TestRefusalsAreTyped(t *testing.T) {
	alone(t)
	session := shell(t, nil)
	ctx := patiently(t)
	expect := func(what error, err error) {
		t.Helper()
		if !errors.Is(err, what) {
			t.Errorf("not %v: %v", what, err)
		}
	}
	_, err := session.SendKeys(ctx, "hyper-x")
	expect(ErrBadRequest, err)
	_, err = session.Nudge(ctx, "hello")
	expect(ErrNoDriver, err)
	changed := uint64(0)
	_, err = session.Calls.SendInput(ctx, &coopv1.SendInputRequest{Text: "x", Expect: &coopv1.Expect{ScreenSeq: &changed}})
	expect(ErrStateChanged, err)
	var refused *Error
	if !errors.As(err, &refused) || refused.Facts["screen_seq"] == "" || refused.Message == "" {
		t.Errorf("the facts are missing: %#v", err)
	}
	lock, err := session.Calls.AcquireLock(ctx, &coopv1.AcquireLockRequest{})
	expect(nil, err)
	_, err = session.Type(ctx, "x", false)
	expect(ErrWriterBusy, err)
	holder := must[*Session](t)(Dial(ctx, session.Address(), WithLock(lock.LockId)))
	defer holder.Close()
	if _, err := holder.Type(ctx, "exit 3", true); err != nil {
		t.Fatal(err)
	}
	if _, err := holder.WaitState(ctx, Exited); err != nil {
		t.Fatal(err)
	}
	_, err = holder.Type(ctx, "x", false)
	expect(ErrExited, err)
	expect(ErrExited, holder.WaitIdle(ctx))
	expect(ErrExited, holder.WaitText(ctx, "never"))
	if alive, err := holder.Alive(ctx); alive || err != nil {
		t.Errorf("alive: %v, %v", alive, err)
	}
	over, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, err = session.Status(over)
	expect(context.DeadlineExceeded, err)
}

func TestKeysSizesAndSignalsReachTheChild(t *testing.T) {
	alone(t)
	session := shell(t, nil)
	ctx := patiently(t)
	if err := session.Resize(ctx, 77, 22); err != nil {
		t.Fatal(err)
	}
	if receipt, err := session.SendKeys(ctx, "s", "t", "t", "y", "space", "s", "i", "z", "e", "enter"); err != nil || (receipt.Phase != Written && receipt.Phase != Echoed) {
		t.Fatal(receipt, err)
	}
	if err := session.WaitText(ctx, "22 77"); err != nil {
		t.Fatal(err)
	}
	if err := session.Resize(ctx, 0, 5); !errors.Is(err, ErrBadRequest) {
		t.Errorf("a size of 0 was taken: %v", err)
	}
	script := "trap 'echo got-it' USR1; echo armed; while :; do sleep 0.1; done"
	session = start(t, Program{Command: []string{"bash", "-c", script}})
	if err := session.WaitText(ctx, "armed"); err != nil {
		t.Fatal(err)
	}
	if err := session.Signal(ctx, "USR1"); err != nil {
		t.Fatal(err)
	}
	if err := session.WaitText(ctx, "got-it"); err != nil {
		t.Fatal(err)
	}
	if err := session.Signal(ctx, "nonsense"); !errors.Is(err, ErrBadRequest) {
		t.Errorf("nonsense is a signal: %v", err)
	}
	if err := session.Signal(ctx, "KILL"); err != nil {
		t.Fatal(err)
	}
	if state, err := session.WaitState(ctx, Exited); state != Exited || err != nil {
		t.Error(state, err)
	}
}
