// The calls that are neither streams nor plain HTTP.
package main

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	coop "coop.dev/clients/go/coop/v1"
)

func ptr[T any](value T) *T { return &value }

func (c client) readsHealthOnly(ctx context.Context) error {
	answer, err := c.GetHealth(ctx, &coop.GetHealthRequest{})
	if err != nil || answer.Status != coop.SessionState_SESSION_STATE_RUNNING || answer.GetPid() == 0 {
		return fmt.Errorf("GetHealth: %v %w", answer, err)
	}
	checked, err := health.NewHealthClient(c.connection).Check(ctx, &health.HealthCheckRequest{})
	if err != nil || checked.Status != health.HealthCheckResponse_SERVING {
		return fmt.Errorf("grpc.health.v1: %v %w", checked, err)
	}
	_, err = c.GetScreen(ctx, &coop.GetScreenRequest{})
	return refusedAs(err, codes.Unauthenticated, "UNAUTHORIZED")
}

func (c client) typesAndReads(ctx context.Context) error {
	ctx = c.trusted(ctx)
	text := "echo go-$((40+2))"
	sent, err := c.SendInput(ctx, &coop.SendInputRequest{Text: text, Enter: true})
	if err != nil || sent.BytesWritten != uint64(len(text)+1) {
		return fmt.Errorf("SendInput: %v %w", sent, err)
	}
	waited, err := c.Wait(ctx, &coop.WaitRequest{Regex: ptr("^go-42$"), TimeoutMs: ptr(uint32(10_000))})
	if err != nil || !waited.Matched {
		return fmt.Errorf("Wait: %v %w", waited, err)
	}
	screen, err := c.GetScreen(ctx, &coop.GetScreenRequest{})
	if err != nil || !slices.Contains(screen.Lines, "go-42") {
		return fmt.Errorf("GetScreen: %v %w", screen, err)
	}
	return nil
}

func (c client) holdsTheLock(ctx context.Context) error {
	ctx = c.trusted(ctx)
	lock, err := c.AcquireLock(ctx, &coop.AcquireLockRequest{})
	if err != nil {
		return fmt.Errorf("AcquireLock: %w", err)
	}
	_, err = c.SendInput(ctx, &coop.SendInputRequest{Text: "x"})
	if err := refusedAs(err, codes.ResourceExhausted, "WRITER_BUSY"); err != nil {
		return err
	}
	released, err := c.ReleaseLock(metadata.AppendToOutgoingContext(ctx, "coop-lock", lock.LockId), &coop.ReleaseLockRequest{})
	if err != nil || !released.Released {
		return fmt.Errorf("ReleaseLock: %v %w", released, err)
	}
	return nil
}

// Whether a call failed with this code and this google.rpc.ErrorInfo.
func refusedAs(err error, code codes.Code, reason string) error {
	answer, _ := status.FromError(err)
	if answer.Code() != code {
		return fmt.Errorf("%v is expected, not: %v", code, err)
	}
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Reason == reason && info.Domain == "coop" {
			return nil
		}
	}
	return fmt.Errorf("the reason %s is not among %v", reason, answer.Details())
}
