package coop

import (
	"context"
	"errors"
	"fmt"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// The longest that coop waits in one call; a longer wait is several.
const waitMax = 10 * time.Minute

// Why coop ends a wait early: the child is gone for good. One that is started again by itself has exited, too, but only for
// a while.
const inVain = "exited"

// Delivery is what became of a message or an answer: delivered exactly when a witness saw the agent take it.
type Delivery struct {
	// Delivered is true when a witness saw the agent take it.
	Delivered bool
	// Reason says why it was not delivered, such as "agent_busy", "no_prompt" or "queued".
	Reason string
	// State is what the agent did afterwards.
	State State
	// Phase is how far it got, and Witness who saw that.
	Phase   coopv1.ReceiptPhase
	Witness string
	// Receipt is the whole receipt, or nil when nothing was written.
	Receipt *coopv1.Receipt
}

// NotDelivered is the error of a Delivery that was none.
type NotDelivered struct{ Delivery Delivery }

func (e *NotDelivered) Error() string {
	text := "not delivered: " + e.Delivery.Reason
	if e.Delivery.Receipt != nil {
		text += ", it got as far as " + Word(e.Delivery.Phase)
	}
	return text + "; the agent is " + Word(e.Delivery.State)
}

// Is tells a busy agent and an agent without a dialog by the errors that a strict call would return.
func (e *NotDelivered) Is(target error) bool {
	switch e.Delivery.Reason {
	case "agent_busy":
		return target == error(ErrAgentBusy)
	case "no_prompt":
		return target == error(ErrNoPrompt)
	}
	return false
}

// Err is nil for what was delivered, and a *NotDelivered for what was not.
func (d Delivery) Err() error {
	if d.Delivered {
		return nil
	}
	return &NotDelivered{d}
}

func delivery(answer interface {
	GetDelivered() bool
	GetReason() string
	GetState() State
	GetReceipt() *coopv1.Receipt
}) Delivery {
	receipt := answer.GetReceipt()
	return Delivery{answer.GetDelivered(), answer.GetReason(), answer.GetState(), receipt.GetPhase(), receipt.GetWitness(), receipt}
}

// AgentState tells what the agent is doing and which dialog it shows.
func (s *Session) AgentState(ctx context.Context) (*AgentState, error) {
	return s.Calls.GetAgentState(ctx, &coopv1.GetAgentStateRequest{})
}

// Nudge gives an idle agent a message. A busy agent is not disturbed: the Delivery says so, and err is nil.
func (s *Session) Nudge(ctx context.Context, message string) (Delivery, error) {
	return s.NudgeWith(ctx, &coopv1.NudgeRequest{Message: message})
}

// NudgeWith is Nudge with everything that can be asked for: Queue, Steer, Command, Expect, TimeoutMs.
func (s *Session) NudgeWith(ctx context.Context, request *coopv1.NudgeRequest) (Delivery, error) {
	answer, err := s.Calls.Nudge(ctx, request)
	if err != nil {
		return Delivery{}, err
	}
	return delivery(answer), nil
}

// Respond answers the prompt with yes or no; another prompt that took its place is not answered (ErrStateChanged).
func (s *Session) Respond(ctx context.Context, prompt *Prompt, accept bool) (Delivery, error) {
	return s.RespondWith(ctx, &coopv1.RespondRequest{Accept: &accept, PromptId: id(prompt)})
}

// Choose answers the prompt with one of its options, counted from 1.
func (s *Session) Choose(ctx context.Context, prompt *Prompt, option int) (Delivery, error) {
	if option < 1 {
		return Delivery{}, &Error{Reason: ErrBadRequest.Reason, Message: "options are counted from 1", Code: ErrBadRequest.Code}
	}
	chosen := uint32(option)
	return s.RespondWith(ctx, &coopv1.RespondRequest{Option: &chosen, PromptId: id(prompt)})
}

// RespondWith is Respond with everything that can be asked for: Text, Answers, Expect, TimeoutMs.
func (s *Session) RespondWith(ctx context.Context, request *coopv1.RespondRequest) (Delivery, error) {
	answer, err := s.Calls.Respond(ctx, request)
	if err != nil {
		return Delivery{}, err
	}
	return delivery(answer), nil
}

func id(prompt *Prompt) *string {
	if prompt == nil {
		return nil
	}
	return &prompt.Id
}

// WaitIdle waits until the agent waits for a message. It fails with ErrExited when the child is gone, and with the
// context's error, which then tells what the agent does instead.
func (s *Session) WaitIdle(ctx context.Context) error {
	_, err := s.WaitState(ctx, Idle)
	return err
}

// WaitState waits until the agent is in one of these states, and tells which.
func (s *Session) WaitState(ctx context.Context, states ...State) (State, error) {
	answer, err := s.wait(ctx, &coopv1.WaitRequest{States: states})
	if errors.Is(err, context.DeadlineExceeded) {
		return s.still(ctx, err)
	}
	return answer.GetState(), err
}

// Waits for as long as the context lasts, in as many calls as that takes.
func (s *Session) wait(ctx context.Context, request *coopv1.WaitRequest) (*coopv1.WaitResponse, error) {
	for {
		within := uint32(min(waitMax, remaining(ctx)).Milliseconds())
		request.TimeoutMs = &within
		answer, err := s.Calls.Wait(ctx, request)
		switch {
		case err != nil || answer.Matched:
			return answer, err
		case answer.GetReason() == inVain:
			return answer, &Error{Reason: ErrExited.Reason, Message: "the child has exited", Code: ErrExited.Code}
		case ctx.Err() != nil || remaining(ctx) <= 0:
			return answer, context.DeadlineExceeded
		}
	}
}

// What the agent does after a wait in vain, and that in the error.
func (s *Session) still(ctx context.Context, vain error) (State, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialWithin)
	defer cancel()
	state, err := s.AgentState(ctx)
	if err != nil {
		return Unknown, vain
	}
	return state.State, fmt.Errorf("%w: the agent is still %s", vain, Word(state.State))
}

// How long the context lasts, less a moment in which the answer can arrive.
func remaining(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return waitMax
	}
	return max(0, time.Until(deadline)-100*time.Millisecond)
}
