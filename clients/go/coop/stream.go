package coop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// How a stream that broke is taken up again: after BackoffMin, twice as long after each failure up to BackoffMax. After
// GiveUpAfter without an answer the stream ends with the last error.
const (
	BackoffMin  = 100 * time.Millisecond
	BackoffMax  = 5 * time.Second
	GiveUpAfter = 2 * time.Minute
)

// StateEvent is a change of the agent's state, or the current state (Prev equals Next).
type StateEvent struct {
	*coopv1.AgentStateEvent
	// Reconnects counts how often the connection was made anew since the stream began.
	Reconnects int
	// Lost says that events before this one are missing: coop does not hold them any more (Gap tells which), or another
	// coop runs at the address now.
	Lost bool
}

type streaming struct {
	after   *uint64
	giveUp  time.Duration
	backoff time.Duration
	// How long it may take until it is known who answers, on each connection.
	answer time.Duration
}

// StreamOption changes how states are streamed.
type StreamOption func(*streaming)

// AfterSeq begins with the events after this sequence number instead of the current state.
func AfterSeq(seq uint64) StreamOption {
	return func(s *streaming) { s.after = &seq }
}

// GivingUpAfter ends the stream when coop was not reached for so long; zero ends it at the first break.
func GivingUpAfter(limit time.Duration) StreamOption {
	return func(s *streaming) { s.giveUp = limit }
}

// States streams the agent's states, the current one first. A broken connection is made anew and the stream goes on where
// it was, without loss or doubles; where history is gone, the next event says so (Lost).
//
// It ends with an error after GiveUpAfter without an answer, when coop refuses (a wrong token), and when the context is done.
// It works in the caller's goroutine only: to stop, leave the loop.
func (s *Session) States(ctx context.Context, options ...StreamOption) iter.Seq2[*StateEvent, error] {
	return func(yield func(*StateEvent, error) bool) {
		chosen := streaming{giveUp: GiveUpAfter, backoff: BackoffMin, answer: answerWithin}
		for _, option := range options {
			option(&chosen)
		}
		reader := stateReader{session: s, after: chosen.after, answer: chosen.answer, yield: yield}
		heard := time.Now()
		for {
			before := reader.count
			err := reader.read(ctx)
			if reader.left {
				return
			}
			if reader.count > before {
				chosen.backoff = BackoffMin
			}
			if reader.reached {
				heard = time.Now()
			}
			switch {
			case ctx.Err() != nil:
				yield(nil, ctx.Err())
				return
			case !isBreak(err):
				yield(nil, err)
				return
			case time.Since(heard)+chosen.backoff > chosen.giveUp:
				yield(nil, fmt.Errorf("%s: given up after %s: %w", s.address, time.Since(heard).Round(time.Millisecond), err))
				return
			}
			if !pause(ctx, chosen.backoff) {
				yield(nil, ctx.Err())
				return
			}
			chosen.backoff = min(2*chosen.backoff, BackoffMax)
			reader.reconnects++
			// Otherwise gRPC would wait on a clock of its own.
			s.connection.ResetConnectBackoff()
		}
	}
}

type stateReader struct {
	session    *Session
	met        *met
	yield      func(*StateEvent, error) bool
	after      *uint64
	answer     time.Duration
	lost       bool
	reconnects int
	count      int
	// Coop answered on this connection, which was good until it broke.
	reached bool
	left    bool
}

// Reads one stream to its end, which is always an error.
func (r *stateReader) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	// Frees what gRPC holds for the stream, also when the caller leaves the loop.
	defer cancel()
	r.reached = false
	if err := r.meet(ctx); err != nil {
		return err
	}
	r.reached = true
	stream, err := r.session.Calls.StreamState(ctx, &coopv1.StreamStateRequest{AfterSeq: r.after})
	for err == nil {
		var event *coopv1.AgentStateEvent
		if event, err = stream.Recv(); err != nil {
			break
		}
		r.count++
		r.after = &event.Seq
		told := &StateEvent{event, r.reconnects, r.lost || event.Gap != nil}
		r.lost = false
		if !r.yield(told, nil) {
			r.left = true
			return nil
		}
	}
	if r.after != nil && errors.Is(err, ErrBadRequest) {
		// The sequence number is ahead of this session: another coop runs here now.
		r.after, r.lost = nil, true
		return io.EOF
	}
	return err
}

// Looks who answers: the events of another coop are no continuation, whatever their numbers are.
func (r *stateReader) meet(ctx context.Context) error {
	// Also where the caller's context lasts longer: a proxy may hold a connection to a coop that stalls.
	within, cancel := context.WithTimeout(ctx, r.answer)
	defer cancel()
	status, err := r.session.Status(within)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		// Our own deadline, which is no word of the caller's.
		return fmt.Errorf("%w within %s", ErrUnreachable, r.answer)
	}
	if err != nil {
		return err
	}
	now := &met{status.StartedAtMs, status.Restarts, time.Duration(status.UptimeSecs) * time.Second, time.Now()}
	if r.met != nil && !r.met.isSame(now) {
		r.after, r.lost = nil, true
	}
	r.met = now
	return nil
}

// What tells one coop from another.
type met struct {
	// When its child was started, and how often that was again.
	startedAtMs uint64
	restarts    uint32
	// How long it had run, and when that was.
	uptime time.Duration
	at     time.Time
}

// How far two looks at the same coop may differ in when it began: uptimes are whole seconds, and answers take time.
const sameWithin = 3 * time.Second

func (m *met) isSame(later *met) bool {
	if later.restarts == m.restarts {
		return later.startedAtMs == m.startedAtMs
	}
	began := m.at.Add(-m.uptime).Sub(later.at.Add(-later.uptime))
	return later.restarts > m.restarts && began.Abs() <= sameWithin
}

// Whether the connection failed, and not the request. That the caller's context is done has been looked for before.
func isBreak(err error) bool {
	var refused *Error
	if errors.As(err, &refused) && refused.Reason == refused.Code.String() {
		// Not coop's own word, but gRPC's, for a stream that was cut or a proxy that failed.
		return refused.Code == codes.Internal || refused.Code == codes.Unknown
	}
	return errors.Is(err, io.EOF) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNotReady) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Sleeps, a little more or less so that many clients do not come at once; false when the context was done first.
func pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length*3/4 + rand.N(length/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
