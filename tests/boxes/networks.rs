//! What a box reaches, and how it is reached.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use coop::sandbox::{Network, PROXY_PORT, Spec};

use crate::support::{perl, plain, run, start, told};

/// A perl program that prints what a server on this port says.
fn dial(port: u16) -> String {
    format!(
        "use IO::Socket::INET; my $s = IO::Socket::INET->new('127.0.0.1:{port}') or do {{ print 'refused'; exit }}; print <$s>"
    )
}

promise! {
    fn a_box_without_a_network_reaches_nothing_but_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sandbox = start(&plain());
        assert_eq!(perl(&sandbox, &dial(port)), "refused");
        assert_eq!(told(&sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"), "lo");
        let own = "use IO::Socket::INET; my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $!;
            print IO::Socket::INET->new('127.0.0.1:'.$l->sockport) ? 'up' : 'down'";
        assert_eq!(perl(&sandbox, own), "up");
        assert!(sandbox.proxy_listener().is_none());
    }
}

promise! {
    fn a_box_on_the_machines_network_reaches_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
        let sandbox = start(&Spec { network: Network::Host, ..plain() });
        assert_eq!(perl(&sandbox, &dial(port)), "hello");
        server.join().unwrap();
        // Names are resolved as outside.
        let outside = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        assert_eq!(told(&sandbox, "cat /etc/resolv.conf 2>/dev/null || true"), outside.trim_end());
    }
}

promise! {
    fn the_proxy_of_a_filtered_box_stands_outside_and_listens_inside() {
        let sandbox = start(&Spec { network: Network::Filtered, ..plain() });
        let listener = sandbox.proxy_listener().expect("a listener");
        assert_eq!(listener.local_addr().unwrap().port(), PROXY_PORT);
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"by proxy").unwrap());
        assert_eq!(perl(&sandbox, &dial(PROXY_PORT)), "by proxy");
        server.join().unwrap();
    }
}

promise! {
    fn a_port_inside_is_reached_from_outside() {
        let sandbox = start(&plain());
        let serve = "use IO::Socket::INET; $| = 1; my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $!;
            print $l->sockport, qq(\\n); my $c = $l->accept; print $c 'got ', scalar <$c>; close $c";
        let started = sandbox.run(&run(&["perl", "-e", serve])).unwrap();
        let port = crate::support::until(&mut std::fs::File::from(started.terminal), "\n").unwrap().trim().parse().unwrap();
        let mut stream = sandbox.dial(port).unwrap();
        stream.write_all(b"it\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "got it\n");
        assert_eq!(sandbox.dial(1).unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    }
}

promise! {
    fn sandboxes_can_be_made_inside_where_that_is_allowed() {
        let sandbox = start(&Spec { nested: true, ..plain() });
        assert_eq!(told(&sandbox, "unshare -Urmpf --kill-child sh -c 'mount -t tmpfs none /tmp && echo x > /tmp/x && id -u && echo $$'"), "0\n1");
        // They take nothing back.
        crate::support::fails(&sandbox, "unshare -Urm mount -o remount,rw,bind /usr");
        crate::support::fails(&sandbox, "unshare -Urm umount -l /etc");
    }
}
