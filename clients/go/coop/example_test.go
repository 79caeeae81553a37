package coop_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"coop.dev/clients/go/coop"
)

// The coop of these examples; elsewhere it is found on the PATH.
var binary = os.Getenv("COOP_BIN")

func ExampleStart() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := coop.Start(ctx, coop.Program{
		Command: []string{"bash", "--norc"},
		Labels:  map[string]string{"name": "example-start"},
		Binary:  binary,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Kill(ctx)
	session.Type(ctx, "echo $((40 + 2))", true)
	session.WaitText(ctx, "42")
	session.Type(ctx, "exit 3", true)
	session.WaitState(ctx, coop.Exited)
	_, err = session.Type(ctx, "too late", true)
	fmt.Println(errors.Is(err, coop.ErrExited))
	// Output: true
}

func ExampleSession_States() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	session, err := coop.Start(ctx, coop.Program{Command: []string{"sh", "-c", "read line"}, Binary: binary})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Kill(ctx)
	session.WaitState(ctx, coop.Unknown)
	for event, err := range session.States(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(coop.Word(event.Next))
		if event.Next == coop.Exited {
			break
		}
		session.SendKeys(ctx, "enter")
	}
	// Output:
	// unknown
	// exited
}

func ExampleFind() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	labels := map[string]string{"name": "example-find"}
	_, err := coop.Find(ctx, coop.Filter{Labels: labels})
	fmt.Println(errors.Is(err, coop.ErrNoSession))
	started, err := coop.Start(ctx, coop.Program{Command: []string{"cat"}, Labels: labels, Binary: binary})
	if err != nil {
		log.Fatal(err)
	}
	defer started.Kill(ctx)
	found, err := coop.Find(ctx, coop.Filter{Labels: labels})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Address() == started.Address())
	// Output:
	// true
	// true
}
