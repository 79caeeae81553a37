package coop

import (
	"context"
	"fmt"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// NameLabel is the label that a Backend finds sessions of this machine by.
const NameLabel = "name"

// CallWithin is how long a call of a Backend may take when its Timeout is zero.
const CallWithin = 10 * time.Second

// Backend is a terminal backend for programs that know sessions by name and have no contexts, as those do that drive tmux.
// Each call connects anew, so that a session that was started again is found again.
//
// With a BaseURL it speaks to that one session, whatever name is given: one coop beside one agent, as in a pod. Without one,
// a session is found by its label "name" on this machine (Start with Labels, or coop --label name=NAME).
type Backend struct {
	// BaseURL is the session's address, as Dial takes it.
	BaseURL string
	// Token is shown with every call.
	Token string
	// Session is the name that RespondToPrompt and AgentState mean; the only session here when empty.
	Session string
	// Timeout is how long one call may take; CallWithin when zero.
	Timeout time.Duration
}

// HasSession tells whether the session exists and its child has not exited. Where that cannot be known, because a session
// wants another token or does not answer, it is an error: whoever took that for a no would start the agent a second time.
func (b *Backend) HasSession(session string) (bool, error) {
	alive := false
	err := b.with(session, func(ctx context.Context, found *Session) (err error) {
		alive, err = found.Alive(ctx)
		return err
	})
	if isGone(err) || isNone(err) {
		return false, nil
	}
	return alive, err
}

// CapturePane is the text of the last so many lines, scrollback included; of the screen alone when lines is 0.
func (b *Backend) CapturePane(session string, lines int) (string, error) {
	var text string
	err := b.with(session, func(ctx context.Context, found *Session) (err error) {
		if lines > 0 {
			text, err = found.LastLines(ctx, lines)
		} else {
			text, err = found.Screen(ctx)
		}
		return err
	})
	return text, err
}

// NudgeSession gives the agent a message; nil exactly when a witness saw it arrive, else a *NotDelivered.
func (b *Backend) NudgeSession(session, message string) error {
	return b.with(session, func(ctx context.Context, found *Session) error {
		delivery, err := found.NudgeWith(ctx, &coopv1.NudgeRequest{Message: message, TimeoutMs: witnessed(ctx)})
		if err != nil {
			return err
		}
		return delivery.Err()
	})
}

// RespondToPrompt answers the dialog that the agent shows, as it is when this is called; nil exactly when a witness saw the
// answer arrive, else a *NotDelivered.
func (b *Backend) RespondToPrompt(accept bool) error {
	return b.with(b.Session, func(ctx context.Context, found *Session) error {
		state, err := found.AgentState(ctx)
		if err != nil {
			return err
		}
		delivery, err := found.RespondWith(ctx, &coopv1.RespondRequest{
			Accept: &accept, PromptId: id(state.Prompt), TimeoutMs: witnessed(ctx),
		})
		if err != nil {
			return err
		}
		return delivery.Err()
	})
}

// AgentState tells what the agent is doing.
func (b *Backend) AgentState() (*AgentState, error) {
	var state *AgentState
	err := b.with(b.Session, func(ctx context.Context, found *Session) (err error) {
		state, err = found.AgentState(ctx)
		return err
	})
	return state, err
}

// How long a witness is waited for: most of what is left, so that the answer can still arrive.
func witnessed(ctx context.Context) *uint32 {
	within := uint32((remaining(ctx) * 3 / 4).Milliseconds())
	return &within
}

func (b *Backend) with(name string, do func(context.Context, *Session) error) error {
	within := b.Timeout
	if within == 0 {
		within = CallWithin
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	session, err := b.connect(ctx, name)
	if err != nil {
		return err
	}
	defer session.Close()
	return do(ctx, session)
}

func (b *Backend) connect(ctx context.Context, name string) (*Session, error) {
	token := WithToken(b.Token)
	if b.BaseURL != "" {
		return Dial(ctx, b.BaseURL, token)
	}
	if name == "" {
		return Find(ctx, Filter{}, token)
	}
	session, err := Find(ctx, Filter{Labels: map[string]string{NameLabel: name}}, token)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	return session, nil
}
