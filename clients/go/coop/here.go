package coop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// How many sessions are asked for their status at once.
	askedAtOnce = 16
	// One that has not told it by then hangs. Less than a connection may take to be made: one that is not made is nobody's.
	tellsWithin = 2 * time.Second
)

// RuntimeDir is where coops listen that were told no other place: $XDG_RUNTIME_DIR/coop, or /tmp/coop-UID where there is no
// such directory of this user's own.
func RuntimeDir() string {
	uid := os.Geteuid()
	if xdg := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) {
		if found, err := os.Stat(xdg); err == nil && found.IsDir() && owner(found) == uid {
			return filepath.Join(xdg, "coop")
		}
	}
	return fmt.Sprintf("/tmp/coop-%d", uid)
}

func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// The sockets in the runtime directory, sorted by name. Nobody else may put one there: it would be sent the token and all
// that is typed.
func sockets() ([]string, error) {
	dir := RuntimeDir()
	// Not through a link: in /tmp anybody may have put one there.
	found, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !found.IsDir() || owner(found) != os.Geteuid() || found.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("no session is looked for in %s: it must be a directory of this user alone (mode 700)", dir)
	}
	// Sorted by name.
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, "coop-") && strings.HasSuffix(name, ".sock") {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths, nil
}

// Found is a session of this machine.
type Found struct {
	// Address is what Dial takes.
	Address string
	// Status is how it stands; nil when Err is not.
	Status *Status
	// Err says why it would not tell: another token is wanted, or it hangs.
	Err error
}

// The name by which a person would choose it, where it has one, and where it is.
func (f Found) introduce() string {
	if f.Status == nil || f.Status.Labels[NameLabel] == "" {
		return f.Address
	}
	return fmt.Sprintf("%s (%s)", f.Status.Labels[NameLabel], f.Address)
}

// Filter chooses among the sessions of this machine; the zero Filter takes all, any other only such as tell how they stand.
type Filter struct {
	// Labels that a session must have, with these values (--label).
	Labels map[string]string
	// Dir is the directory in which, or below which, its child must have been started, as for coop ls --cwd.
	Dir string
}

func (f Filter) takes(found Found) bool {
	if f.Dir == "" && len(f.Labels) == 0 {
		return true
	}
	if found.Err != nil {
		return false
	}
	for name, value := range f.Labels {
		if had, ok := found.Status.Labels[name]; !ok || had != value {
			return false
		}
	}
	return f.Dir == "" || isWithin(f.Dir, found.Status.Cwd)
}

// Whether a path is this directory or below it. Links are followed, so that one directory has one name.
func isWithin(dir, path string) bool {
	resolved := func(path string) string {
		if whole, err := filepath.Abs(path); err == nil {
			path = whole
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		return path
	}
	if path == "" {
		// Not told; Abs would take it for where we are.
		return false
	}
	way, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && filepath.IsLocal(way)
}

// List tells which sessions of this user run on this machine, sorted by socket. Only those are found that listen in coop's
// runtime directory, as Start and a coop without --socket do.
func List(ctx context.Context, filter Filter, options ...Option) ([]Found, error) {
	fitting, _, err := look(ctx, filter, options)
	return fitting, err
}

// The sessions that fit, and what the others say that would not tell whether they do.
func look(ctx context.Context, filter Filter, options []Option) (fitting []Found, untold []error, err error) {
	paths, err := sockets()
	if err != nil {
		return nil, nil, err
	}
	all := make([]Found, len(paths))
	var asked sync.WaitGroup
	turns := make(chan struct{}, askedAtOnce)
	for i, path := range paths {
		turns <- struct{}{}
		asked.Go(func() {
			all[i] = ask(ctx, "unix:"+path, options)
			<-turns
		})
	}
	asked.Wait()
	for _, found := range all {
		switch {
		case isGone(found.Err):
			// A socket that nobody answers on was left behind by a coop that was killed.
		case filter.takes(found):
			fitting = append(fitting, found)
		case found.Err != nil:
			untold = append(untold, fmt.Errorf("%s: %w", found.Address, found.Err))
		}
	}
	return fitting, untold, ctx.Err()
}

func ask(ctx context.Context, address string, options []Option) Found {
	ctx, cancel := context.WithTimeout(ctx, tellsWithin)
	defer cancel()
	session, err := open(address, options...)
	if err != nil {
		return Found{Address: address, Err: err}
	}
	defer session.Close()
	status, err := session.Status(ctx)
	return Found{address, status, err}
}

func isGone(err error) bool { return errors.Is(err, ErrUnreachable) }

func isNone(err error) bool { return errors.Is(err, ErrNoSession) }

// Find connects to the only session that fits; ErrNoSession when none does, ErrManySessions when several do, ErrUntold when
// none does but some would not tell, so that the one that is meant may be among them.
func Find(ctx context.Context, filter Filter, options ...Option) (*Session, error) {
	found, untold, err := look(ctx, filter, options)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 && len(untold) > 0:
		return nil, fmt.Errorf("%w: %w", ErrUntold, errors.Join(untold...))
	case len(found) == 0:
		return nil, fmt.Errorf("%w: looked in %s", ErrNoSession, RuntimeDir())
	case len(found) > 1:
		var places []string
		for _, one := range found {
			places = append(places, one.introduce())
		}
		return nil, fmt.Errorf("%w; choose by a Filter with labels, or by Backend.Session: %s", ErrManySessions, strings.Join(places, ", "))
	}
	return Dial(ctx, found[0].Address, options...)
}

// Here connects to the session that is meant without a name, as coop's verbs do: COOP_URL, COOP_SOCKET, else the only one
// that runs here. The token is that of the options, else COOP_AUTH_TOKEN, else in the file COOP_AUTH_TOKEN_FILE.
func Here(ctx context.Context, options ...Option) (*Session, error) {
	if token := os.Getenv("COOP_AUTH_TOKEN"); token != "" {
		options = append([]Option{WithToken(token)}, options...)
	} else if file := os.Getenv("COOP_AUTH_TOKEN_FILE"); file != "" {
		options = append([]Option{WithTokenFile(file)}, options...)
	}
	if url := os.Getenv("COOP_URL"); url != "" {
		return Dial(ctx, url, options...)
	}
	if socket := os.Getenv("COOP_SOCKET"); socket != "" {
		return Dial(ctx, "unix:"+socket, options...)
	}
	return Find(ctx, Filter{}, options...)
}
