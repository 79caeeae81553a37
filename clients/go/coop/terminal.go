package coop

import (
	"context"
	"strings"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// Status tells how the session stands: the child's life, its process id, directory, labels and counters.
func (s *Session) Status(ctx context.Context) (*Status, error) {
	return s.Calls.GetStatus(ctx, &coopv1.GetStatusRequest{})
}

// Alive tells whether the child runs, is being started, or will be started again by coop itself. A coop that does not answer is not alive, without an error.
func (s *Session) Alive(ctx context.Context) (bool, error) {
	status, err := s.Status(ctx)
	if isGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return status.State != coopv1.SessionState_SESSION_STATE_EXITED || status.RestartsAtMs != nil, nil
}

// Screen is the text of the screen, rows ended by newlines, without the empty rows at its end.
func (s *Session) Screen(ctx context.Context) (string, error) {
	return s.screen(ctx, &coopv1.GetScreenRequest{})
}

// LastLines are the last so many lines, those that have scrolled off the screen included.
func (s *Session) LastLines(ctx context.Context, lines int) (string, error) {
	count := uint32(max(0, lines))
	text, err := s.screen(ctx, &coopv1.GetScreenRequest{Scrollback: &count})
	if err != nil || text == "" {
		return "", err
	}
	rows := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	return strings.Join(rows[max(0, len(rows)-int(count)):], "") + "\n", nil
}

func (s *Session) screen(ctx context.Context, request *coopv1.GetScreenRequest) (string, error) {
	screen, err := s.Calls.GetScreen(ctx, request)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(strings.Join(screen.Lines, "\n"), "\n")
	if text != "" {
		text += "\n"
	}
	return text, nil
}

// Type types text as it is, and then Enter if wanted. For messages to an agent use Nudge, which sees them arrive.
func (s *Session) Type(ctx context.Context, text string, enter bool) (*coopv1.Receipt, error) {
	answer, err := s.Calls.SendInput(ctx, &coopv1.SendInputRequest{Text: text, Enter: enter})
	return answer.GetReceipt(), err
}

// SendKeys presses keys: "enter", "escape", "up", "ctrl-c", "alt-x", "shift-tab", or single characters.
func (s *Session) SendKeys(ctx context.Context, keys ...string) (*coopv1.Receipt, error) {
	answer, err := s.Calls.SendKeys(ctx, &coopv1.SendKeysRequest{Keys: keys})
	return answer.GetReceipt(), err
}

// WaitText waits until the screen shows this text.
func (s *Session) WaitText(ctx context.Context, text string) error {
	_, err := s.wait(ctx, &coopv1.WaitRequest{Text: &text})
	return err
}

// Resize changes the terminal's size, for the child and the screen at once.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	_, err := s.Calls.Resize(ctx, &coopv1.ResizeRequest{Cols: uint32(max(0, cols)), Rows: uint32(max(0, rows))})
	return err
}

// Signal signals the child's process group: "SIGINT", "int", "2".
func (s *Session) Signal(ctx context.Context, signal string) error {
	_, err := s.Calls.SendSignal(ctx, &coopv1.SendSignalRequest{Signal: signal})
	return err
}

// Restart ends the child and starts it again, with the same conversation where it is wanted and the agent can.
func (s *Session) Restart(ctx context.Context, resume bool) error {
	_, err := s.Calls.Restart(ctx, &coopv1.RestartRequest{Resume: &resume})
	return err
}

// AttachCommand is what a person runs to attach a terminal to this session. A token is taken from COOP_AUTH_TOKEN.
func (s *Session) AttachCommand() []string {
	if path, ok := strings.CutPrefix(s.address, "unix:"); ok {
		return []string{"coop", "attach", "--socket", path}
	}
	return []string{"coop", "attach", "--url", s.address}
}
