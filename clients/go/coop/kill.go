package coop

import (
	"context"
	"fmt"
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
		// coop closes its doors when all else has ended; a proxy before it then says that nobody answers.
		_, err := s.Calls.GetHealth(ctx, &coopv1.GetHealthRequest{})
		if isGone(err) {
			return nil
		}
		if !pause(ctx, goneEvery) {
			return fmt.Errorf("%s has not ended: %w", s.address, ctx.Err())
		}
		s.connection.ResetConnectBackoff()
	}
}
