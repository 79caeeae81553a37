package coop

import (
	"maps"
	"testing"
	"time"
)

func TestTheEnvironmentIsReadAndReachesTheNextChild(t *testing.T) {
	alone(t)
	ctx := patiently(t)
	script := `echo "colour [$COLOUR] shape [$SHAPE]"; exec cat`
	session := start(t, Program{Command: []string{"bash", "-c", script}, Env: map[string]string{"COLOUR": "red", "SHAPE": "round"}})
	if err := session.WaitText(ctx, "colour [red] shape [round]"); err != nil {
		t.Fatal(err)
	}
	if all := must[map[string]string](t)(session.Environment(ctx)); !maps.Equal(all, map[string]string{"COLOUR": "red", "SHAPE": "round"}) {
		t.Errorf("the environment is %v", all)
	}
	if err := session.SetEnvironment(ctx, map[string]string{"COLOUR": "blue"}, "SHAPE"); err != nil {
		t.Fatal(err)
	}
	if one := must[map[string]string](t)(session.Environment(ctx, "COLOUR", "NOTHING")); !maps.Equal(one, map[string]string{"COLOUR": "blue"}) {
		t.Errorf("the environment is %v", one)
	}
	if err := session.Restart(ctx, false); err != nil {
		t.Fatal(err)
	}
	if err := session.WaitText(ctx, "colour [blue] shape []"); err != nil {
		t.Error(err)
	}
}

func TestTheLastActivityIsWhatWasPrintedOrTyped(t *testing.T) {
	alone(t)
	ctx := patiently(t)
	before := time.Now().Add(-time.Second)
	session := shell(t, nil)
	printed := must[time.Time](t)(session.LastActivity(ctx))
	if printed.Before(before) || printed.After(time.Now().Add(time.Second)) {
		t.Errorf("something was printed at %v", printed)
	}
	if _, err := session.Type(ctx, "stty -echo", true); err != nil {
		t.Fatal(err)
	}
	if typed := must[time.Time](t)(session.LastActivity(ctx)); typed.Before(printed) {
		t.Errorf("%v is before %v", typed, printed)
	}
}
