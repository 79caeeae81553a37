package coop

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// How often it is looked whether a coop that was told to end has ended.
const goneEvery = 20 * time.Millisecond

// Kill ends the child with every process of its session, then coop, and returns when nobody answers any more. Processes get
// SIGHUP, and what is left of them SIGKILL ten seconds later. A session that has ended already is no error.
func (s *Session) Kill(ctx context.Context) error {
	if _, err := s.Calls.Shutdown(ctx, &coopv1.ShutdownRequest{}); err != nil && !isGone(err) {
		return err
	}
	if s.started != nil {
		select {
		case <-s.started:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%s has not ended: %w", s.address, ctx.Err())
		}
	}
	for {
		if gone, err := s.gone(ctx); gone || err != nil {
			return err
		}
		if !pause(ctx, goneEvery) {
			return fmt.Errorf("%s has not ended: %w", s.address, ctx.Err())
		}
	}
}

// Whether nobody listens there any more. A coop removes its socket, or closes its port, when all else has ended.
func (s *Session) gone(ctx context.Context) (bool, error) {
	network, place := "tcp", strings.TrimPrefix(s.connection.Target(), "dns:///")
	if path, ok := strings.CutPrefix(s.address, "unix:"); ok {
		network, place = "unix", path
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			return true, nil
		}
	}
	dialer := net.Dialer{Timeout: dialWithin}
	connection, err := dialer.DialContext(ctx, network, place)
	if err == nil {
		return false, connection.Close()
	}
	if ctx.Err() != nil {
		return false, fmt.Errorf("%s has not ended: %w", s.address, ctx.Err())
	}
	return true, nil
}
