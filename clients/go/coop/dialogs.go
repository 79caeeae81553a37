package coop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// NeedsDecision is a dialog that AcceptStartupDialogs left alone: somebody has to decide.
type NeedsDecision struct{ Prompt *Prompt }

func (e *NeedsDecision) Error() string {
	return fmt.Sprintf("a %s dialog (%s) needs a decision", Word(e.Prompt.Type), e.Prompt.GetSubtype())
}

// AcceptStartupDialogs passes the dialogs of an agent's start – trust in the directory, theme, notes, terminal setup, the
// warning about bypassed permissions – until the agent waits for a message or works. Whatever else is asked (a tool, a plan,
// a login, an update) is not answered: that is a *NeedsDecision.
//
// A dialog that takes no answer is a *NotDelivered.
//
// A coop with --groom auto, the default, passes the harmless ones by itself.
func (s *Session) AcceptStartupDialogs(ctx context.Context) error {
	tries, wait := 0, BackoffMin
	for {
		if _, err := s.WaitState(ctx, Idle, Working, AtPrompt, InError, Parked); err != nil {
			return err
		}
		state, err := s.AgentState(ctx)
		if err != nil {
			return err
		}
		if state.Prompt == nil {
			return nil
		}
		answer := startupAnswer(state.Prompt)
		if answer == nil {
			return &NeedsDecision{state.Prompt}
		}
		delivery, err := s.RespondWith(ctx, answer)
		if err == nil && delivery.Delivered {
			if err := s.left(ctx, state.SinceSeq, state.Prompt.Id); err != nil {
				return err
			}
			tries, wait = 0, BackoffMin
			continue
		}
		if err != nil && !isStale(err) {
			return err
		}
		// It may have been passed by another hand in the meantime, not be drawn to the end yet, or go in a moment: look again.
		if tries++; tries == startupTries {
			return fmt.Errorf("a %s dialog (%s) stays: %w", Word(state.Prompt.Type), state.Prompt.GetSubtype(), errors.Join(err, delivery.Err()))
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
		wait = min(2*wait, BackoffMax)
	}
}

// How often an answer that was not seen to be taken is given anew: for some ten seconds.
const startupTries = 8

func isStale(err error) bool {
	refused, ok := err.(*Error)
	return ok && (refused.Is(ErrStateChanged) || refused.Is(ErrNoPrompt))
}

// What passes a dialog of the start; nil for one that is not ours to pass.
func startupAnswer(prompt *Prompt) *coopv1.RespondRequest {
	yes, first := true, uint32(1)
	subtype := prompt.GetSubtype()
	switch prompt.Type {
	case Permission:
		if subtype == "trust" {
			return &coopv1.RespondRequest{Accept: &yes, PromptId: &prompt.Id}
		}
	case Setup:
		switch subtype {
		case "trust", "startup_trust", "bypass", "startup_bypass", "security_notes", "login_success":
			return &coopv1.RespondRequest{Accept: &yes, PromptId: &prompt.Id}
		case "theme_picker":
			return &coopv1.RespondRequest{Option: &first, PromptId: &prompt.Id}
		case "terminal_setup":
			for i, label := range prompt.Options {
				if strings.HasPrefix(label, "No") {
					no := uint32(i + 1)
					return &coopv1.RespondRequest{Option: &no, PromptId: &prompt.Id}
				}
			}
		}
	}
	return nil
}

// Waits until the agent does something else than to show this prompt.
func (s *Session) left(ctx context.Context, since uint64, prompt string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for event, err := range s.States(ctx, AfterSeq(since)) {
		if err != nil {
			return err
		}
		if event.Prompt == nil || event.Prompt.Id != prompt {
			return nil
		}
	}
	return ctx.Err()
}
