//! The proxy's HTTP side: tunnels by CONNECT, and plain requests with a whole address (`GET http://host/…`).
//!
//! Plain requests are read by hyper and written anew by hyper, each on a connection of its own that carries nothing
//! else. So no request can hide in another one: what the far side reads is only what was checked here.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri, Version, client, server};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::answer::{self, Answer, Text};
use super::dial::Dialer;
use super::fields;
use super::host::{self, BadHost, Host};
use super::proxy::Limits;
use super::tunnel::tunnel;

/// Enough for the largest cookies that servers take. Also what is held of a body at most.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Port of a plain request whose address names none.
const HTTP_PORT: u16 = 80;

/// What remains to be done when a connection has stopped being HTTP.
type Tunnel = Arc<Mutex<Option<(OnUpgrade, TcpStream)>>>;

/// Serves one connection.
pub(super) async fn serve(stream: TcpStream, dialer: Arc<Dialer>, limits: Limits) {
    let opened = Tunnel::default();
    let service = service_fn(|request| {
        let (dialer, opened) = (dialer.clone(), opened.clone());
        async move { Ok::<_, std::convert::Infallible>(answer_to(request, &dialer, &opened).await) }
    });
    // A client that closes its side has given up, and so has the request that it waited for: a model stops writing when
    // nobody listens. Who wants to close one side only has tunnels.
    let connection = server::conn::http1::Builder::new()
        .half_close(false)
        .auto_date_header(false)
        .preserve_header_case(true)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_within)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection to the proxy ended");
        return;
    }
    let open = opened.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((upgrade, far)) = open else { return };
    let Ok(upgraded) = upgrade.await else { return };
    if let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() {
        tunnel(parts.io.into_inner(), far, &parts.read_buf, limits.half_open_idle).await;
    }
}

async fn answer_to(request: Request<Incoming>, dialer: &Dialer, opened: &Tunnel) -> Response<Outgoing> {
    let answered = if request.method() == Method::CONNECT {
        connect(request, dialer, opened).await
    } else {
        forward(request, dialer).await
    };
    answered.unwrap_or_else(|answer| answer.into_response().map(Outgoing::Text))
}

/// Opens a tunnel. What goes through it afterwards is not looked at.
async fn connect(
    mut request: Request<Incoming>,
    dialer: &Dialer,
    opened: &Tunnel,
) -> Result<Response<Outgoing>, Answer> {
    let asked = request.uri().authority().map_or("", |authority| authority.as_str());
    let (host, port) = place(asked, None).map_err(|wrong| answer::bad_host(asked, &wrong).closing())?;
    if !request.body().is_end_stream() {
        return Err(answer::bad_request("CONNECT takes no body.").closing());
    }
    let far = match dialer.dial(&host, port).await {
        Ok(far) => far,
        // What follows may already be meant for the far side, hence no second request on this connection.
        Err(no_way) => return Err(answer::no_way(&host, port, &no_way).closing()),
    };
    *opened.lock().unwrap_or_else(PoisonError::into_inner) = Some((hyper::upgrade::on(&mut request), far));
    Ok(Response::new(Outgoing::Text(Text::default())))
}

/// Makes a plain request for the box.
async fn forward(request: Request<Incoming>, dialer: &Dialer) -> Result<Response<Outgoing>, Answer> {
    let (mut head, body) = request.into_parts();
    let patient = head.headers.contains_key(hyper::header::EXPECT);
    let (host, port) = match destination(&head.uri) {
        Ok(place) => place,
        Err(answer) => return Err(answer::after(answer, body, patient).await),
    };
    let far = match dialer.dial(&host, port).await {
        Ok(far) => far,
        Err(no_way) => return Err(answer::after(answer::no_way(&host, port, &no_way), body, patient).await),
    };
    rewrite(&mut head, &body)?;
    let failed = |error: hyper::Error| answer::broken(&host, port, &error);
    let (mut sender, connection) = client::conn::http1::Builder::new()
        .preserve_header_case(true)
        .max_buf_size(HEAD_BYTES_MAX)
        .handshake(TokioIo::new(far))
        .await
        .map_err(failed)?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a plain request's connection ended");
        }
    }));
    let response = sender.send_request(Request::from_parts(head, body)).await.map_err(failed)?;
    let (mut head, body) = response.into_parts();
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(answer::bad_gateway(&host, port, "changed the protocol without being asked"));
    }
    head.version = Version::HTTP_11;
    fields::clean_response(&mut head.headers);
    Ok(Response::from_parts(head, Outgoing::Far { body, _connection: connection }))
}

/// Whom a plain request is for.
fn destination(address: &Uri) -> Result<(Host, u16), Answer> {
    match address.scheme_str() {
        Some("http") => {}
        Some("https") => return Err(answer::bad_request("https goes through a tunnel: use CONNECT.")),
        Some(_) => {
            return Err(answer::bad_request("only http:// is forwarded; for the rest there is CONNECT, and SOCKS5."));
        }
        None => {
            return Err(answer::bad_request(
                "this is the proxy of a coop box and not a server. A program finds it by HTTP_PROXY and HTTPS_PROXY.",
            ));
        }
    }
    let asked = address.authority().map_or("", |authority| authority.as_str());
    place(asked, Some(HTTP_PORT)).map_err(|wrong| answer::bad_host(asked, &wrong))
}

/// Reads `host:port` strictly. A user before an @ is refused like any strange character: it is the oldest way to show
/// one host and mean another.
fn place(text: &str, default: Option<u16>) -> Result<(Host, u16), BadHost> {
    let (host, port) = host::split_port(text)?;
    Ok((Host::parse(host)?, port.or(default).ok_or(BadHost::Port)?))
}

/// Turns what the box asked into what the far side is asked.
fn rewrite(head: &mut Parts, body: &Incoming) -> Result<(), Answer> {
    let bad = || answer::bad_request("the address cannot be used.");
    // The list was asked about the host in the address, so that is the one which the far side hears.
    let authority = head.uri.authority().ok_or_else(bad)?.as_str();
    let host = HeaderValue::from_str(authority).map_err(|_| bad())?;
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse().map_err(|_| bad())?;
    head.version = Version::HTTP_11;
    fields::clean_request(&mut head.headers, body.size_hint().exact());
    head.headers.insert(HOST, host);
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    Ok(())
}

/// The body of an answer: our own words, or what the far side sends.
enum Outgoing {
    Text(Text),
    /// The far connection lives as long as its body is wanted.
    Far {
        body: Incoming,
        _connection: AbortOnDropHandle<()>,
    },
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut *self {
            Self::Text(text) => Pin::new(text).poll_frame(cx).map_err(|never| match never {}),
            Self::Far { body, .. } => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Text(text) => text.is_end_stream(),
            Self::Far { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Text(text) => text.size_hint(),
            Self::Far { body, .. } => body.size_hint(),
        }
    }
}
