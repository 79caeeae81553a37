package coop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// How much of the complaint of a coop that does not start is kept.
const complaintBytesMax = 4 << 10

// Program is what Start runs, and how.
type Program struct {
	// Command is the program and its arguments; no shell reads it.
	Command []string
	// Dir is where it starts; here when empty.
	Dir string
	// Env is added to its environment. It stands on coop's command line, where others on the machine can read it.
	Env map[string]string
	// Secrets are added to its environment as well, unseen: coop inherits them, and hands them on.
	Secrets map[string]string
	// Labels are shown in the status, and found by List and Find.
	Labels map[string]string
	// Flags are further flags of coop, such as "--cols", "120" or "--agent", "claude".
	Flags []string
	// Binary is coop itself; found on the PATH when empty.
	Binary string
}

// Start runs a program in a coop of its own, which goes on when this process ends, and connects to it. It listens in coop's
// runtime directory, so that List and Find know it, unless Flags say --socket. A token among the options is what that
// coop will ask for; it is not on its command line, and its child does not get it.
//
// Until that coop ends, one goroutine waits to reap it.
func Start(ctx context.Context, program Program, options ...Option) (*Session, error) {
	binary := program.Binary
	if binary == "" {
		binary = "coop"
	}
	var chosen settings
	for _, option := range options {
		if err := option(&chosen); err != nil {
			return nil, err
		}
	}
	command := exec.Command(binary, program.arguments()...)
	// Neither a Ctrl-C at our terminal nor our own end shall end it, and no variable of ours shall choose for it.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "COOP_") })
	for name, value := range program.Secrets {
		command.Env = append(command.Env, name+"="+value)
	}
	if chosen.token != "" {
		command.Env = append(command.Env, "COOP_AUTH_TOKEN="+chosen.token)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// coop goes on when its log is not read any more, and keeps its last lines itself (StreamLog).
	complaint, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("coop cannot be started: %w", err)
	}
	address, err := listening(ctx, output, complaint)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		command.Wait()
	}()
	if err != nil {
		command.Process.Kill()
		<-ended
		return nil, err
	}
	session, err := Dial(ctx, address, options...)
	if err != nil {
		// Nobody would know of it.
		command.Process.Signal(syscall.SIGTERM)
		<-ended
		return nil, err
	}
	session.started = ended
	return session, nil
}

func (p Program) arguments() []string {
	var words []string
	if p.Dir != "" {
		words = append(words, "--cwd", p.Dir)
	}
	for name, value := range p.Env {
		words = append(words, "--env", name+"="+value)
	}
	for name, value := range p.Labels {
		words = append(words, "--label", name+"="+value)
	}
	words = append(words, p.Flags...)
	return append(append(words, "--"), p.Command...)
}

// Where a coop listens, by the one line that it prints; what it complains of when it does not.
func listening(ctx context.Context, output, complaint io.ReadCloser) (string, error) {
	// Both are closed at the end of all reading, or by this; then the reads below return.
	stop := context.AfterFunc(ctx, func() {
		output.Close()
		complaint.Close()
	})
	defer stop()
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		said, _ := io.ReadAll(io.LimitReader(complaint, complaintBytesMax))
		if ctx.Err() != nil {
			return "", fmt.Errorf("coop does not listen: %w", ctx.Err())
		}
		return "", fmt.Errorf("coop does not start: %s", strings.TrimSpace(string(said)))
	}
	defer output.Close()
	defer complaint.Close()
	var told struct {
		URL    *string `json:"url"`
		Socket *string `json:"socket"`
	}
	if err := json.Unmarshal(line, &told); err != nil {
		return "", fmt.Errorf("coop's first line is not JSON: %w", err)
	}
	switch {
	case told.Socket != nil:
		return "unix:" + *told.Socket, nil
	case told.URL != nil:
		return *told.URL, nil
	}
	return "", errors.New("coop listens nowhere")
}
