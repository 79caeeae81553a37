// The streams, one way and both ways.
package main

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/grpc/codes"

	coop "coop.dev/clients/go/coop/v1"
)

func (c client) findsTheEcho(ctx context.Context) error {
	ctx, cancel := context.WithCancel(c.trusted(ctx))
	defer cancel()
	stream, err := c.StreamEvents(ctx, &coop.StreamEventsRequest{Mode: coop.EventMode_EVENT_MODE_ALL})
	if err != nil {
		return err
	}
	first, err := stream.Recv()
	if err != nil || first.GetTransition() == nil {
		return fmt.Errorf("the first message must be the current state: %v %w", first, err)
	}
	if _, err := c.SendInput(ctx, &coop.SendInputRequest{Text: "echo event-$((20+3))", Enter: true}); err != nil {
		return err
	}
	var seen []byte
	for !bytes.Contains(seen, []byte("event-23")) {
		message, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("only %q was seen: %w", seen, err)
		}
		seen = append(seen, message.GetOutput().GetData()...)
	}
	return nil
}

func (c client) resumesOutput(ctx context.Context) error {
	ctx, cancel := context.WithCancel(c.trusted(ctx))
	defer cancel()
	whole, err := c.GetOutput(ctx, &coop.GetOutputRequest{Offset: ptr(uint64(0))})
	if err != nil {
		return err
	}
	from := whole.NextOffset / 2
	stream, err := c.StreamOutput(ctx, &coop.StreamOutputRequest{FromOffset: &from})
	if err != nil {
		return err
	}
	var seen []byte
	for from+uint64(len(seen)) < whole.NextOffset {
		chunk, err := stream.Recv()
		if err != nil {
			return err
		}
		if chunk.Offset != from+uint64(len(seen)) || chunk.Gap != nil {
			return fmt.Errorf("a chunk at %d after %d", chunk.Offset, from+uint64(len(seen)))
		}
		seen = append(seen, chunk.Data...)
	}
	if !bytes.HasPrefix(seen, whole.Data[from:]) {
		return fmt.Errorf("%q is not %q", seen, whole.Data[from:])
	}
	return nil
}

func (c client) talksBothWays(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session, err := c.Session(ctx)
	if err != nil {
		return err
	}
	messages := []*coop.ClientMessage{
		{RequestId: ptr("1"), Event: &coop.ClientMessage_Ping{Ping: &coop.Ping{}}},
		{RequestId: ptr("2"), Event: &coop.ClientMessage_Auth{Auth: &coop.AuthRequest{Token: c.token}}},
		{RequestId: ptr("3"), Event: &coop.ClientMessage_ScreenGet{ScreenGet: &coop.GetScreenRequest{}}},
	}
	for _, message := range messages {
		if err := session.Send(message); err != nil {
			return err
		}
	}
	var pong *coop.Pong
	for {
		message, err := session.Recv()
		if err != nil {
			return err
		}
		if message.GetRequestId() == "1" {
			pong = message.GetPong()
		}
		if message.GetRequestId() == "3" {
			if pong == nil || message.GetScreen() == nil {
				return fmt.Errorf("pong %v, then %v", pong, message)
			}
			return session.CloseSend()
		}
	}
}

func (c client) seesTheExit(ctx context.Context) error {
	ctx, cancel := context.WithCancel(c.trusted(ctx))
	defer cancel()
	stream, err := c.StreamState(ctx, &coop.StreamStateRequest{})
	if err != nil {
		return err
	}
	if _, err := c.SendInput(ctx, &coop.SendInputRequest{Text: "exit 6", Enter: true}); err != nil {
		return err
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			return err
		}
		if event.Next == coop.AgentStateKind_AGENT_STATE_KIND_EXITED {
			if event.GetExit().GetCode() != 6 {
				return fmt.Errorf("another exit: %v", event)
			}
			break
		}
	}
	_, err = c.SendInput(ctx, &coop.SendInputRequest{Text: "x"})
	return refusedAs(err, codes.NotFound, "EXITED")
}
