package coop

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	coopv1 "coop.dev/clients/go/coop/v1"
)

const (
	// A machine that does not answer for so long is not there.
	dialWithin = 5 * time.Second
	// How long a call without a deadline may take, beyond what it was told to wait for.
	answerWithin = 10 * time.Second
	// What Wait waits for when nobody says how long.
	waitDefault = 30 * time.Second
	// The largest answer: a page of output, or a large screen with its scrollback.
	answerBytesMax = 32 << 20
	// A connection on which nothing came for so long is asked whether it lives.
	aliveEvery = 20 * time.Second
)

// Session is a connection to one coop. It may be used by many goroutines at once, and reconnects by itself.
//
// Calls are the generated ones, for whatever has no method here; they carry the token and return the same errors.
type Session struct {
	Calls coopv1.CoopClient

	connection *grpc.ClientConn
	address    string
	// Of the coop that this process started; closed when that has been reaped.
	started chan struct{}
}

type settings struct {
	token string
	lock  string
	more  []grpc.DialOption
}

// Option changes how a session is dialled.
type Option func(*settings) error

// WithToken shows this bearer token with every call.
func WithToken(token string) Option {
	return func(s *settings) error {
		s.token = token
		return nil
	}
}

// WithTokenFile reads the bearer token from a file, as coop's own --auth-token-file does.
func WithTokenFile(path string) Option {
	return func(s *settings) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("the token cannot be read: %w", err)
		}
		s.token = strings.TrimSpace(string(text))
		return nil
	}
}

// WithLock writes as the holder of this lock, which AcquireLock gave.
func WithLock(id string) Option {
	return func(s *settings) error {
		s.lock = id
		return nil
	}
}

// WithDialOptions adds options of gRPC's own, such as other transport credentials.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) error {
		s.more = append(s.more, options...)
		return nil
	}
}

// Dial connects to the coop at http://HOST:PORT, HOST:PORT, unix:PATH, or https://HOST[:PORT] for one behind a proxy
// that ends TLS. It fails at once when no coop answers (ErrUnreachable) or the token is wrong (ErrUnauthorized).
func Dial(ctx context.Context, address string, options ...Option) (*Session, error) {
	session, err := open(address, options...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	if _, err := session.Calls.GetStatus(ctx, &coopv1.GetStatusRequest{}); err != nil {
		session.Close()
		return nil, fmt.Errorf("%s: %w", session.address, err)
	}
	return session, nil
}

// Address is where the session is, as Dial takes it.
func (s *Session) Address() string { return s.address }

// Close closes the connection; the session itself goes on.
func (s *Session) Close() error { return s.connection.Close() }

func open(address string, options ...Option) (*Session, error) {
	var chosen settings
	for _, option := range options {
		if err := option(&chosen); err != nil {
			return nil, err
		}
	}
	target, shown, secure, err := parse(address)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if secure {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	quick := backoff.Config{BaseDelay: BackoffMin, Multiplier: 2, Jitter: 0.2, MaxDelay: BackoffMax}
	all := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithChainUnaryInterceptor(chosen.unary),
		grpc.WithChainStreamInterceptor(chosen.stream),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(answerBytesMax)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: quick, MinConnectTimeout: dialWithin}),
		// Without this a stream over a line that was cut without a word would wait for ever.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: aliveEvery, Timeout: answerWithin}),
	}
	connection, err := grpc.NewClient(target, append(all, chosen.more...)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	return &Session{Calls: coopv1.NewCoopClient(connection), connection: connection, address: shown}, nil
}

// What gRPC dials, what people read, and whether TLS is wanted.
func parse(address string) (target, shown string, secure bool, err error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return "", "", false, errors.New("name the socket after unix:, such as unix:/tmp/coop.sock")
		}
		return "unix:" + path, "unix:" + path, false, nil
	}
	whole := address
	if !strings.Contains(whole, "://") {
		whole = "http://" + whole
	}
	place, err := url.Parse(whole)
	if err != nil || place.Hostname() == "" || (place.Scheme != "http" && place.Scheme != "https") {
		return "", "", false, fmt.Errorf("%q is no address: use http://HOST:PORT or unix:PATH", address)
	}
	if strings.Trim(place.Path, "/") != "" {
		return "", "", false, fmt.Errorf("leave out the path %s: only http://HOST:PORT is wanted", place.Path)
	}
	if place.User != nil || place.RawQuery != "" {
		return "", "", false, errors.New("no token in the address: give it by WithToken")
	}
	host := place.Host
	if place.Port() == "" {
		host += map[string]string{"http": ":80", "https": ":443"}[place.Scheme]
	}
	return host, place.Scheme + "://" + place.Host, place.Scheme == "https", nil
}

func (s *settings) outgoing(ctx context.Context) context.Context {
	if s.token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.token)
	}
	if s.lock != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "coop-lock", s.lock)
	}
	return ctx
}

func (s *settings) unary(
	ctx context.Context, method string, request, answer any,
	connection *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerWithin+waits(request))
		defer cancel()
	}
	return typed(ctx, call(s.outgoing(ctx), method, request, answer, connection, options...))
}

// How long coop may take because it was told to.
func waits(request any) time.Duration {
	if wait, ok := request.(*coopv1.WaitRequest); ok && wait.TimeoutMs == nil {
		return waitDefault
	}
	if timed, ok := request.(interface{ GetTimeoutMs() uint32 }); ok {
		return time.Duration(timed.GetTimeoutMs()) * time.Millisecond
	}
	return 0
}

func (s *settings) stream(
	ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn,
	method string, open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(s.outgoing(ctx), description, connection, method, options...)
	if err != nil {
		return nil, typed(ctx, err)
	}
	return typedStream{stream}, nil
}

type typedStream struct{ grpc.ClientStream }

func (s typedStream) RecvMsg(message any) error {
	// The end of a stream is io.EOF, which is no status.
	return typed(s.Context(), s.ClientStream.RecvMsg(message))
}
