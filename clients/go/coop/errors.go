package coop

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is a call that coop refused. Compare it with the Err… values by errors.Is.
type Error struct {
	// Reason is the word of coop's error table, such as EXITED.
	Reason string
	// Message says what, with which thing, and the way out.
	Message string
	// Facts are what was found instead of what was expected, for STATE_CHANGED.
	Facts map[string]string
	// Code is the gRPC code.
	Code codes.Code
}

// What coop refuses, and why. See the error table of coop's README.
var (
	ErrBadRequest   = &Error{Reason: "BAD_REQUEST", Code: codes.InvalidArgument}
	ErrUnauthorized = &Error{Reason: "UNAUTHORIZED", Code: codes.Unauthenticated}
	ErrForbidden    = &Error{Reason: "FORBIDDEN", Code: codes.PermissionDenied}
	ErrNoDriver     = &Error{Reason: "NO_DRIVER", Code: codes.Unimplemented}
	ErrNotFound     = &Error{Reason: "NOT_FOUND", Code: codes.NotFound}
	ErrExited       = &Error{Reason: "EXITED", Code: codes.NotFound}
	ErrWriterBusy   = &Error{Reason: "WRITER_BUSY", Code: codes.ResourceExhausted}
	ErrAgentBusy    = &Error{Reason: "AGENT_BUSY", Code: codes.FailedPrecondition}
	ErrNoPrompt     = &Error{Reason: "NO_PROMPT", Code: codes.FailedPrecondition}
	ErrStateChanged = &Error{Reason: "STATE_CHANGED", Code: codes.Aborted}
	ErrNotReady     = &Error{Reason: "NOT_READY", Code: codes.Unavailable}
	ErrBorrowed     = &Error{Reason: "BORROWED", Code: codes.FailedPrecondition}
	ErrTooLarge     = &Error{Reason: "TOO_LARGE", Code: codes.ResourceExhausted}
	ErrInternal     = &Error{Reason: "INTERNAL", Code: codes.Internal}
)

// ErrUnreachable says that no coop answers at the address: it has ended, or was never there.
var ErrUnreachable = errors.New("no coop answers")

// ErrNoSession says that no session was found on this machine.
var ErrNoSession = errors.New("no such session runs here")

// ErrUntold says that no session was found, but that some here would not tell how they stand: they want another token, or
// do not answer. Whether the one that is meant runs is not known.
var ErrUntold = errors.New("a session here does not tell whether it is the one")

// ErrManySessions says that several sessions fit, and none was chosen.
var ErrManySessions = errors.New("several such sessions run here")

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Message
}

// Is makes errors.Is compare reasons.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Reason == e.Reason
}

// The domain of the reasons that are coop's.
const errorDomain = "coop"

// What a caller can act on, made from what gRPC says.
func typed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	answer, ok := status.FromError(err)
	if !ok {
		return err
	}
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == errorDomain {
			return &Error{info.Reason, answer.Message(), info.Metadata, answer.Code()}
		}
	}
	switch answer.Code() {
	case codes.Canceled, codes.DeadlineExceeded:
		cause := context.DeadlineExceeded
		if answer.Code() == codes.Canceled {
			cause = context.Canceled
		}
		if ctx.Err() != nil {
			cause = ctx.Err()
		}
		return fmt.Errorf("%w: %s", cause, answer.Message())
	case codes.Unavailable:
		return fmt.Errorf("%w: %s", ErrUnreachable, answer.Message())
	}
	return &Error{answer.Code().String(), answer.Message(), nil, answer.Code()}
}
