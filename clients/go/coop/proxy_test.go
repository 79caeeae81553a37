package coop

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// What an HTTP/2 client says first of all. Whoever hears it answers with its settings, and the client is connected.
const greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// A proxy whose line can be cut, or stand still.
type proxy struct {
	listener net.Listener
	lock     sync.Mutex
	target   string
	open     []net.Conn
	down     bool
	// Closed unless what callers say is held back.
	through chan struct{}
}

func newProxy(t *testing.T, target string) *proxy {
	p := &proxy{listener: must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")), target: target, through: make(chan struct{})}
	close(p.through)
	t.Cleanup(func() { p.listener.Close(); p.cut(true) })
	go func() {
		for {
			from, err := p.listener.Accept()
			if err != nil {
				return
			}
			p.join(from)
		}
	}()
	return p
}

func (p *proxy) join(from net.Conn) {
	p.lock.Lock()
	defer p.lock.Unlock()
	network, place := "tcp", strings.TrimPrefix(p.target, "http://")
	if path, ok := strings.CutPrefix(p.target, "unix:"); ok {
		network, place = "unix", path
	}
	to, err := net.Dial(network, place)
	if err != nil || p.down {
		from.Close()
		return
	}
	p.open = append(p.open, from, to)
	through := p.through
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			if pair[1] == from {
				io.CopyN(to, from, int64(len(greeting)))
				<-through
			}
			io.Copy(pair[0], pair[1])
			pair[0].Close()
			pair[1].Close()
		}()
	}
}

// Cuts every line, and holds those that are made anew: a caller is connected, and gets no answer until the function, which
// may be called again, lets through what it said.
func (p *proxy) hold(t *testing.T) (letThrough func()) {
	through := make(chan struct{})
	letThrough = sync.OnceFunc(func() { close(through) })
	t.Cleanup(letThrough)
	p.lock.Lock()
	p.through = through
	p.lock.Unlock()
	p.cut(false)
	return letThrough
}

// Cuts every line; while it is down, nobody gets through.
func (p *proxy) cut(down bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.down = down
	for _, one := range p.open {
		one.Close()
	}
	p.open = nil
}

func (p *proxy) leadsTo(target string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.target = target
}

func (p *proxy) address() string { return "http://" + p.listener.Addr().String() }
