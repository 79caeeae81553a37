"""A channel to one session: its address, its token, and how it reconnects."""

from urllib.parse import urlsplit

import grpc

#: How a connection that broke is made again, in milliseconds.
BACKOFF_MS_MIN, BACKOFF_MS_MAX = 100, 5000
#: A machine that does not answer for so long is not there, in milliseconds.
CONNECT_MS_MAX = 5000
#: The largest answer: a page of output, or a large screen with its scrollback.
ANSWER_BYTES_MAX = 32 << 20
#: A connection on which nothing came for so long is asked whether it lives, in milliseconds.
ALIVE_EVERY_MS = 20_000


def parse(address: str) -> tuple[str, bool]:
    """What gRPC dials, and whether TLS is wanted: http://HOST:PORT, HOST:PORT, https://HOST or unix:PATH."""
    if address.startswith("unix:"):
        path = address.removeprefix("unix:").removeprefix("//")
        if not path:
            raise ValueError("name the socket after unix:, such as unix:/tmp/coop.sock")
        return f"unix:{path}", False
    place = urlsplit(address if "://" in address else f"http://{address}")
    if place.scheme not in ("http", "https") or not place.hostname:
        raise ValueError(f"{address!r} is no address: use http://HOST:PORT or unix:PATH")
    if place.path.strip("/"):
        raise ValueError(f"leave out the path {place.path}: only http://HOST:PORT is wanted")
    if place.query or place.username:
        raise ValueError("no token in the address: give it as token=")
    secure = place.scheme == "https"
    host = f"[{place.hostname}]" if ":" in place.hostname else place.hostname
    return f"{host}:{place.port or (443 if secure else 80)}", secure


def open_channel(address: str, token: str | None) -> grpc.Channel:
    target, secure = parse(address)
    options = [
        ("grpc.initial_reconnect_backoff_ms", BACKOFF_MS_MIN),
        # This one is how long an attempt may take.
        ("grpc.min_reconnect_backoff_ms", CONNECT_MS_MAX),
        ("grpc.max_reconnect_backoff_ms", BACKOFF_MS_MAX),
        ("grpc.max_receive_message_length", ANSWER_BYTES_MAX),
        ("grpc.keepalive_time_ms", ALIVE_EVERY_MS),
        # Each session has a connection of its own, so that closing one leaves the others alone.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if target.startswith("unix:"):
        # gRPC would send the path, which is no name that an HTTP server takes.
        options.append(("grpc.default_authority", "localhost"))
    if target.startswith(("unix:", "localhost:", "127.", "[::1]")):
        # A proxy elsewhere cannot reach what is here.
        options.append(("grpc.enable_http_proxy", 0))
    if secure:
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(), options)
    else:
        channel = grpc.insecure_channel(target, options)
    return grpc.intercept_channel(channel, _Token(token)) if token else channel


class _Token(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Shows the token with every call."""

    def __init__(self, token: str):
        self._header = ("authorization", f"Bearer {token}")

    def _shown(self, continuation, details, request):
        metadata = [*(details.metadata or ()), self._header]
        return continuation(details._replace(metadata=metadata), request)

    intercept_unary_unary = _shown
    intercept_unary_stream = _shown
    intercept_stream_unary = _shown
    intercept_stream_stream = _shown
