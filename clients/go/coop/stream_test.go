package coop

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestAStreamThatIsCutGoesOnWithoutLossOrDoubles(t *testing.T) {
	agent := played(t)
	line := newProxy(t, agent.Address())
	session := must[*Session](t)(Dial(patiently(t), line.address()))
	defer session.Close()
	direct := collect(t, agent)
	var seen []uint64
	turns, reconnects := 0, 0
	say := func() {
		tell(t, agent, "turn")
		if err := agent.WaitIdle(patiently(t)); err != nil {
			t.Fatal(err)
		}
	}
	for event, err := range session.States(patiently(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Lost {
			t.Errorf("a loss is told: %v", event)
		}
		seen = append(seen, event.Seq)
		reconnects = event.Reconnects
		if event.Next != Idle {
			continue
		}
		if turns == 3 {
			break
		}
		turns++
		// A whole turn happens while the line is down.
		line.cut(true)
		say()
		line.cut(false)
	}
	if reconnects < 3 {
		t.Errorf("only %d reconnections", reconnects)
	}
	whole := direct(seen[len(seen)-1])
	if !slices.Equal(seen, whole) {
		t.Errorf("the cut stream told %v, an uncut one %v", seen, whole)
	}
}

// Reads the states from here on; the function tells their sequence numbers up to one of them.
func collect(t *testing.T, session *Session) func(last uint64) []uint64 {
	ctx, cancel := context.WithCancel(patiently(t))
	seen := make(chan uint64, 1024)
	began := make(chan struct{})
	go func() {
		first := true
		for event, err := range session.States(ctx) {
			if err != nil {
				close(seen)
				return
			}
			seen <- event.Seq
			if first {
				close(began)
				first = false
			}
		}
	}()
	<-began
	return func(last uint64) []uint64 {
		defer cancel()
		var all []uint64
		for seq := range seen {
			all = append(all, seq)
			if seq >= last {
				break
			}
		}
		return all
	}
}

func TestAnotherCoopAtTheSameAddressIsTold(t *testing.T) {
	agent := played(t)
	tell(t, agent, "so that its numbers are higher")
	line := newProxy(t, agent.Address())
	session := must[*Session](t)(Dial(patiently(t), line.address()))
	defer session.Close()
	other := shell(t, nil)
	told := false
	for event, err := range session.States(patiently(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if told {
			if !event.Lost || event.Next != Unknown {
				t.Errorf("the change is not told: %v", event)
			}
			break
		}
		if event.Next == Idle {
			told = true
			line.leadsTo(other.Address())
			line.cut(false)
		}
	}
}

func TestAnotherCoopIsToldEvenIfItsNumbersAreHigher(t *testing.T) {
	other := played(t)
	tell(t, other, "so that its numbers are higher")
	if err := other.WaitIdle(patiently(t)); err != nil {
		t.Fatal(err)
	}
	first := shell(t, nil)
	line := newProxy(t, first.Address())
	session := must[*Session](t)(Dial(patiently(t), line.address()))
	defer session.Close()
	count := 0
	for event, err := range session.States(patiently(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count == 2 {
			if !event.Lost || event.Next != Idle {
				t.Errorf("the change is not told: %v", event)
			}
			break
		}
		line.leadsTo(other.Address())
		line.cut(false)
	}
}

func TestACoopThatStartedItsChildAnewIsTheSame(t *testing.T) {
	alone(t)
	agent := shell(t, nil)
	line := newProxy(t, agent.Address())
	session := must[*Session](t)(Dial(patiently(t), line.address()))
	defer session.Close()
	count := 0
	for event, err := range session.States(patiently(t)) {
		if err != nil || event.Lost {
			t.Fatal(event, err)
		}
		if event.Next == Unknown && count > 0 {
			break
		}
		if count++; count == 1 {
			line.cut(true)
			if err := agent.Restart(patiently(t), false); err != nil {
				t.Fatal(err)
			}
			line.cut(false)
		}
	}
}

func TestAStreamEndsWhenNobodyAnswersAnyMore(t *testing.T) {
	alone(t)
	session := shell(t, nil)
	line := newProxy(t, session.Address())
	through := must[*Session](t)(Dial(patiently(t), line.address()))
	defer through.Close()
	var last error
	for _, err := range through.States(patiently(t), GivingUpAfter(time.Second)) {
		last = err
		line.cut(true)
	}
	if !errors.Is(last, ErrUnreachable) || !strings.Contains(last.Error(), "given up") {
		t.Errorf("not given up: %v", last)
	}
}

// A session over a line that can be held, by the function; from then on lateAnswer hears of each answer that did not come in
// time.
func holdable(t *testing.T, agent *Session, lateAnswer func(letThrough func())) (*Session, func()) {
	line := newProxy(t, agent.Address())
	var letThrough func()
	look := func(ctx context.Context, method string, request, answer any, to *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		err := call(ctx, method, request, answer, to, options...)
		if letThrough != nil && status.Code(err) == codes.DeadlineExceeded {
			lateAnswer(letThrough)
		}
		return err
	}
	session := must[*Session](t)(Dial(patiently(t), line.address(), WithDialOptions(grpc.WithChainUnaryInterceptor(look))))
	t.Cleanup(func() { session.Close() })
	return session, func() { letThrough = line.hold(t) }
}

// Answers that are given at once shall come within this.
func answeredWithin(limit time.Duration) StreamOption {
	return func(s *streaming) { s.answer = limit }
}

func TestAStreamOutlivesACoopThatStallsBehindAProxy(t *testing.T) {
	alone(t)
	agent := shell(t, nil)
	late := 0
	session, hold := holdable(t, agent, func(letThrough func()) {
		if late++; late == 2 {
			letThrough()
		}
	})
	count := 0
	for event, err := range session.States(patiently(t), answeredWithin(time.Second/2)) {
		if err != nil || event.Lost {
			t.Fatal(event, err)
		}
		if event.Next == Exited {
			break
		}
		if count++; count == 1 {
			hold()
			if _, err := agent.Type(patiently(t), "exit", true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if late < 2 {
		t.Errorf("only %d answers were late", late)
	}
}

func TestAStreamThatStallsIsEndedByItsCallerOrGivenUp(t *testing.T) {
	alone(t)
	for _, one := range []struct {
		how    string
		limit  time.Duration
		giveUp time.Duration
		cancel bool
		ends   error
	}{
		{how: "cancelled", limit: patience, giveUp: GiveUpAfter, cancel: true, ends: context.Canceled},
		{how: "at the caller's deadline", limit: 2 * time.Second, giveUp: GiveUpAfter, ends: context.DeadlineExceeded},
		{how: "given up", limit: patience, giveUp: time.Second, ends: ErrUnreachable},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), one.limit)
		session, hold := holdable(t, shell(t, nil), func(func()) {
			if one.cancel {
				cancel()
			}
		})
		var last error
		for _, err := range session.States(ctx, answeredWithin(time.Second/5), GivingUpAfter(one.giveUp)) {
			if last = err; err == nil {
				hold()
			}
		}
		if !errors.Is(last, one.ends) || errors.Is(last, ErrUnreachable) != strings.Contains(last.Error(), "given up") {
			t.Errorf("it is not %s: %v", one.how, last)
		}
		cancel()
	}
}

func TestAStreamThatWasQuietForLongIsNotGivenUpAtItsFirstBreak(t *testing.T) {
	alone(t)
	agent := shell(t, nil)
	line := newProxy(t, agent.Address())
	session := must[*Session](t)(Dial(patiently(t), line.address()))
	defer session.Close()
	limit := 2 * time.Second
	count := 0
	for event, err := range session.States(patiently(t), GivingUpAfter(limit)) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; event.Next == Exited {
			break
		}
		go func() {
			for range 2 {
				time.Sleep(limit)
				line.cut(false)
			}
			agent.Type(patiently(t), "exit", true)
		}()
	}
}

func TestAStreamThatIsRefusedIsNotTriedAgain(t *testing.T) {
	alone(t)
	session := shell(t, []string{"--port", "0"}, WithToken(secret))
	wrong := must[*Session](t)(open(session.Address(), WithToken("wrong")))
	defer wrong.Close()
	count := 0
	for _, err := range wrong.States(patiently(t)) {
		count++
		if !errors.Is(err, ErrUnauthorized) {
			t.Errorf("not %v: %v", ErrUnauthorized, err)
		}
	}
	if count != 1 {
		t.Errorf("%d ends", count)
	}
}

func TestAStreamLeavesNothingBehind(t *testing.T) {
	alone(t)
	session := shell(t, nil)
	ctx, cancel := context.WithCancel(patiently(t))
	ended := make(chan error)
	before := runtime.NumGoroutine()
	go func() {
		var last error
		for event, err := range session.States(ctx) {
			if last = err; err == nil && event.Seq > 0 {
				ended <- nil
			}
		}
		ended <- last
	}()
	<-ended
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("not cancelled: %v", err)
	}
	for range 5 {
		for _, err := range session.States(patiently(t)) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAStreamCanBeginAfterASequenceNumber(t *testing.T) {
	agent := played(t)
	before := must[*AgentState](t)(agent.AgentState(patiently(t)))
	tell(t, agent, "turn")
	for event, err := range agent.States(patiently(t), AfterSeq(before.SinceSeq)) {
		if err != nil || event.Prev != Idle || event.Next != Working {
			t.Errorf("the first event after idle: %v %v", event, err)
		}
		break
	}
}

func TestHistoryThatIsGoneIsToldAsLost(t *testing.T) {
	alone(t)
	session := shell(t, nil)
	ctx := patiently(t)
	first := must[*Status](t)(session.Status(ctx)).Seq
	// More changes than coop keeps in its journal, which is 4096 events.
	var resized sync.WaitGroup
	for worker := range 8 {
		resized.Go(func() {
			for i := range 550 {
				if err := session.Resize(ctx, 80+8*(i%100)+worker, 24); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	resized.Wait()
	for event, err := range session.States(ctx, AfterSeq(first)) {
		if err != nil || !event.Lost || event.Gap == nil || event.Next != Unknown {
			t.Errorf("the loss is not told: %v %v", event, err)
		}
		break
	}
}
