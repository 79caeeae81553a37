package coop

import (
	"context"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// LastActivity is when the child last printed something or was given something to read, whichever came later; the zero
// time when neither happened yet.
func (s *Session) LastActivity(ctx context.Context) (time.Time, error) {
	status, err := s.Status(ctx)
	if err != nil {
		return time.Time{}, err
	}
	latest := max(status.GetLastOutputAtMs(), status.GetLastInputAtMs())
	if latest == 0 {
		return time.Time{}, nil
	}
	return time.UnixMilli(int64(latest)), nil
}

// Environment is what the operator gives the child beyond coop's own environment; all of it when no name is given.
func (s *Session) Environment(ctx context.Context, names ...string) (map[string]string, error) {
	answer, err := s.Calls.GetEnvironment(ctx, &coopv1.GetEnvironmentRequest{Names: names})
	return answer.GetVariables(), err
}

// SetEnvironment changes that. The child that runs keeps its own; Restart starts one that has the change.
func (s *Session) SetEnvironment(ctx context.Context, set map[string]string, unset ...string) error {
	_, err := s.Calls.SetEnvironment(ctx, &coopv1.SetEnvironmentRequest{Set: set, Unset: unset})
	return err
}
