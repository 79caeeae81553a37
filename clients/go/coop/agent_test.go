package coop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coopv1 "coop.dev/clients/go/coop/v1"
)

func TestAMessageIsDeliveredWhenAWitnessSawItArrive(t *testing.T) {
	agent := played(t)
	delivery := tell(t, agent, "hello there")
	if delivery.Phase != Accepted || !strings.Contains(delivery.Witness, "UserPromptSubmit") || delivery.Err() != nil {
		t.Fatal(delivery)
	}
	if err := agent.WaitText(patiently(t), "You said: hello there"); err != nil {
		t.Error(err)
	}
	if err := agent.WaitIdle(patiently(t)); err != nil {
		t.Error(err)
	}
	if state := must[*AgentState](t)(agent.AgentState(patiently(t))); Word(state.State) != "idle" || state.GetLastMessage() != "● You said: hello there" {
		t.Error(state)
	}
}

// An agent that asks for a permission.
func asking(t *testing.T) (*Session, *Prompt) {
	t.Helper()
	agent := played(t)
	tell(t, agent, "you need a permission")
	if _, err := agent.WaitState(patiently(t), AtPrompt); err != nil {
		t.Fatal(err)
	}
	return agent, must[*AgentState](t)(agent.AgentState(patiently(t))).Prompt
}

func TestAPromptIsAnsweredOnceAndAnotherOneNotAtAll(t *testing.T) {
	agent, prompt := asking(t)
	if prompt.Type != Permission || prompt.GetTool() != "Bash" {
		t.Error(prompt)
	}
	if _, err := agent.Respond(patiently(t), &Prompt{Id: "p99"}, true); !errors.Is(err, ErrStateChanged) {
		t.Errorf("another prompt was answered: %v", err)
	}
	if _, err := agent.Choose(patiently(t), prompt, 0); !errors.Is(err, ErrBadRequest) {
		t.Errorf("option 0 was taken: %v", err)
	}
	busy, err := agent.Nudge(patiently(t), "are you there?")
	if err != nil || busy.Delivered || busy.Reason != "agent_busy" || busy.State != AtPrompt {
		t.Error(busy, err)
	}
	if err := busy.Err(); !errors.Is(err, ErrAgentBusy) || !strings.Contains(err.Error(), "prompt") {
		t.Errorf("not %v: %v", ErrAgentBusy, err)
	}
	accept, long := true, uint32(patience.Milliseconds())
	yes, err := agent.RespondWith(patiently(t), &coopv1.RespondRequest{Accept: &accept, PromptId: &prompt.Id, TimeoutMs: &long})
	if err != nil || !yes.Delivered {
		t.Fatal(yes, err)
	}
	if err := agent.WaitText(patiently(t), "allowed"); err != nil {
		t.Error(err)
	}
	if err := agent.WaitIdle(patiently(t)); err != nil {
		t.Error(err)
	}
	none, err := agent.RespondWith(patiently(t), &coopv1.RespondRequest{Accept: new(bool)})
	if err != nil || none.Delivered || !errors.Is(none.Err(), ErrNoPrompt) {
		t.Error(none, err)
	}
}

func TestAWaitThatRunsOutSaysWhatTheAgentDoes(t *testing.T) {
	agent, _ := asking(t)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := agent.WaitIdle(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "still prompt") {
		t.Errorf("not that: %v", err)
	}
}

func TestAProgramThatIsStartedAgainHasNotExitedForGood(t *testing.T) {
	alone(t)
	program := Program{Command: []string{"sh", "-c", "echo up; read line"}, Flags: []string{"--restart", "always"}}
	session := start(t, program)
	if err := session.WaitText(patiently(t), "up"); err != nil {
		t.Fatal(err)
	}
	before := must[*Status](t)(session.Status(patiently(t))).Seq
	if _, err := session.SendKeys(patiently(t), "enter"); err != nil {
		t.Fatal(err)
	}
	for event, err := range session.States(patiently(t), AfterSeq(before)) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Next == Exited {
			break
		}
	}
	// Whoever starts what is not there would start a second one.
	if !must[bool](t)(session.Alive(patiently(t))) {
		t.Error("not alive between two starts")
	}
	// In the pause before the next start, which is a second.
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := session.WaitText(ctx, "never"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("not a wait that ran out: %v", err)
	}
	if _, err := session.WaitState(patiently(t), Unknown); err != nil {
		t.Errorf("the next start was not waited for: %v", err)
	}
}

func TestADialogThatTakesNoAnswerIsAnErrorAndNoWaitWithoutEnd(t *testing.T) {
	agent := played(t, "deaf")
	var left *NotDelivered
	if err := agent.AcceptStartupDialogs(patiently(t)); !errors.As(err, &left) {
		t.Fatal(err)
	}
}

func TestDialogsOfTheStartArePassed(t *testing.T) {
	agent := played(t, "trust")
	if err := agent.AcceptStartupDialogs(patiently(t)); err != nil {
		t.Fatal(err)
	}
	if state := must[*AgentState](t)(agent.AgentState(patiently(t))); state.State != Idle {
		t.Error(state)
	}
	if err := agent.AcceptStartupDialogs(patiently(t)); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestAPermissionForAToolIsNoDialogOfTheStart(t *testing.T) {
	agent, prompt := asking(t)
	var left *NeedsDecision
	if err := agent.AcceptStartupDialogs(patiently(t)); !errors.As(err, &left) || left.Prompt.Id != prompt.Id {
		t.Errorf("not left alone: %v", err)
	}
	if state := must[*AgentState](t)(agent.AgentState(patiently(t))); state.GetPrompt().GetId() != prompt.Id {
		t.Errorf("it was answered: %v", state)
	}
}

func TestOnlyHarmlessDialogsHaveAnAnswer(t *testing.T) {
	text := func(words string) *string { return &words }
	for _, subtype := range []string{"trust", "theme_picker", "security_notes", "login_success", "bypass", "startup_trust", "startup_bypass"} {
		if startupAnswer(&Prompt{Id: "p1", Type: Setup, Subtype: text(subtype)}) == nil {
			t.Errorf("%s is not passed", subtype)
		}
	}
	setup := &Prompt{Id: "p1", Type: Setup, Subtype: text("terminal_setup"), Options: []string{"Yes, use recommended settings", "No, maybe later"}}
	if answer := startupAnswer(setup); answer.GetOption() != 2 {
		t.Errorf("the terminal is set up: %v", answer)
	}
	for _, prompt := range []*Prompt{
		{Type: Permission, Subtype: text("tool")}, {Type: Permission, Subtype: text("edit")}, {Type: Plan}, {Type: Question},
		{Type: Setup}, {Type: Setup, Subtype: text("update")}, {Type: Setup, Subtype: text("oauth_login")},
		{Type: Setup, Subtype: text("api_key")}, {Type: Setup, Subtype: text("model_migration")},
		{Type: Setup, Subtype: text("hooks_review")}, {Type: Plan, Subtype: text("trust")},
	} {
		if answer := startupAnswer(prompt); answer != nil {
			t.Errorf("%v is answered with %v", prompt, answer)
		}
	}
}

func TestABackendWorksByName(t *testing.T) {
	agent := played(t)
	named := start(t, Program{Command: []string{"bash", "-c", "seq 100; exec cat"}, Labels: map[string]string{NameLabel: "gt-mayor"}})
	if err := named.WaitText(patiently(t), "100"); err != nil {
		t.Fatal(err)
	}
	backend := &Backend{}
	for name, expected := range map[string]bool{"gt-mayor": true, "gt-nobody": false} {
		if has, err := backend.HasSession(name); has != expected || err != nil {
			t.Errorf("%s: %v, %v", name, has, err)
		}
	}
	for lines, expected := range map[int]string{2: "99\n100\n", 70: "31\n32\n"} {
		if text, err := backend.CapturePane("gt-mayor", lines); err != nil || !strings.HasPrefix(text, expected) || strings.Count(text, "\n") != lines {
			t.Errorf("%d lines: %q, %v", lines, text, err)
		}
	}
	if err := backend.NudgeSession("gt-nobody", "hello"); !errors.Is(err, ErrNoSession) {
		t.Errorf("not %v: %v", ErrNoSession, err)
	}
	// One session by its address, whatever it is called.
	one := &Backend{BaseURL: agent.Address(), Timeout: patience}
	if err := one.NudgeSession("any", "you need a permission"); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.WaitState(patiently(t), AtPrompt); err != nil {
		t.Fatal(err)
	}
	if state, err := one.AgentState(); err != nil || state.State != AtPrompt {
		t.Error(state, err)
	}
	if err := one.RespondToPrompt(true); err != nil {
		t.Error(err)
	}
	if err := agent.WaitText(patiently(t), "allowed"); err != nil {
		t.Error(err)
	}
	if err := agent.WaitIdle(patiently(t)); err != nil {
		t.Error(err)
	}
	if err := one.RespondToPrompt(true); !errors.Is(err, ErrNoPrompt) {
		t.Errorf("not %v: %v", ErrNoPrompt, err)
	}
	if err := agent.Kill(patiently(t)); err != nil {
		t.Error(err)
	}
	if has, err := one.HasSession("any"); has || err != nil {
		t.Errorf("a dead session: %v, %v", has, err)
	}
}
