package coop

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// A proxy whose line can be cut.
type proxy struct {
	listener net.Listener
	lock     sync.Mutex
	target   string
	open     []net.Conn
	down     bool
}

func newProxy(t *testing.T, target string) *proxy {
	p := &proxy{listener: must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")), target: target}
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
	for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			io.Copy(pair[0], pair[1])
			pair[0].Close()
			pair[1].Close()
		}()
	}
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
