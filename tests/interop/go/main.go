// Uses coop as a Go program of somebody else would: `client URL SOCKET TOKEN`, with a bash inside.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	coop "coop.dev/clients/go/coop/v1"
)

// The longest that one promise may take.
const within = 15 * time.Second

var broken = 0

func check(promise string, keep func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := keep(ctx); err != nil {
		broken++
		fmt.Printf("not ok - %s\n#   %v\n", promise, err)
		return
	}
	fmt.Printf("ok - %s\n", promise)
}

func main() {
	url, socket, token := os.Args[1], os.Args[2], os.Args[3]
	ways := []struct{ name, target string }{
		{"TCP", strings.TrimPrefix(url, "http://")},
		{"the Unix socket", "unix://" + socket},
	}
	for _, way := range ways {
		connection, err := grpc.NewClient(way.target, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			fmt.Printf("not ok - Go connects over %s\n#   %v\n", way.name, err)
			os.Exit(1)
		}
		defer connection.Close()
		c := client{coop.NewCoopClient(connection), connection, token}
		check("Go without a token reads health and nothing else over "+way.name, c.readsHealthOnly)
		check("Go types, waits and reads the screen over "+way.name, c.typesAndReads)
		check("Go finds the echo in StreamEvents over "+way.name, c.findsTheEcho)
		check("Go resumes StreamOutput at an offset over "+way.name, c.resumesOutput)
		check("Go talks both ways in a Session over "+way.name, c.talksBothWays)
		check("Go holds the lock by its metadata over "+way.name, c.holdsTheLock)
	}
	check("Go decodes 64-bit numbers from HTTP into uint64", func(ctx context.Context) error {
		return decodesNumbers(ctx, url, token)
	})
	connection, _ := grpc.NewClient(ways[0].target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	c := client{coop.NewCoopClient(connection), connection, token}
	check("Go sees the exit and then the reason EXITED", c.seesTheExit)
	if broken > 0 {
		os.Exit(1)
	}
}

type client struct {
	coop.CoopClient
	connection *grpc.ClientConn
	token      string
}

func (c client) trusted(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token)
}
