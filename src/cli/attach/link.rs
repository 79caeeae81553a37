//! The connection of an attached terminal: made with a hello, lost, and made again.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::about::About;
use crate::api::Code;
use crate::child::Size;
use crate::client::{Client, Credentials, Failure, Target, connect_lasting};
use crate::proto::v1::{AttachHello, AttachRequest, AttachResponse, ResizeRequest, attach_request, attach_response};

/// Messages that wait for the network; what is typed beyond them waits in the terminal.
const SAID_MAX: usize = 64;

/// The pause before the first try to connect again; it doubles until it has reached the last.
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_LAST: Duration = Duration::from_secs(5);

/// How long a lost connection is tried to be made again.
const TRY_FOR: Duration = Duration::from_secs(120);

/// Where the session is, and as what this terminal joins it.
#[derive(Clone, Debug)]
pub struct Place {
    pub target: Target,
    pub credentials: Credentials,
    pub view: bool,
    /// A shell beside the session's own program.
    pub terminal: Option<Side>,
}

/// A terminal that was opened beside the session's own.
#[derive(Clone, Debug)]
pub struct Side {
    pub id: String,
    /// What runs on it.
    pub program: String,
}

/// An open connection.
pub struct Link {
    pub mouth: Mouth,
    told: Streaming<AttachResponse>,
    client: Client,
    pub about: About,
}

impl Link {
    /// Joins with this size.
    pub async fn open(place: Place, size: Size) -> Result<Box<Self>, Failure> {
        let client = connect_lasting(place.target.clone(), place.credentials).await?;
        let mut about = About::ask(&client, &place.target).await?;
        if let Some(side) = &place.terminal {
            // What the session's own program does is not seen here.
            about = About { program: side.program.clone(), state: None, exit: None, ..about };
        }
        let terminal = place.terminal.map(|side| side.id).unwrap_or_default();
        let (say, said) = mpsc::channel(SAID_MAX);
        let (cols, rows) = (Some(size.cols().into()), Some(size.rows().into()));
        // coop knows the picture and answers queries from it; the outer terminal never sees them.
        let hello =
            AttachHello { cols, rows, view: place.view, answers: Some(false), terminal, ..AttachHello::default() };
        // The channel is empty, so that there is room.
        let _ = say.try_send(request(attach_request::Event::Hello(hello)));
        let told = client.answer(client.calls().attach(ReceiverStream::new(said))).await?;
        Ok(Box::new(Self { mouth: Mouth { say, owed: None }, told, client, about }))
    }

    /// The next word of the session; `None` when it is over. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<attach_response::Event>, Failure> {
        loop {
            match self.told.message().await {
                Ok(Some(AttachResponse { event: Some(event) })) => return Ok(Some(event)),
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(status) => return Err(self.client.failure(&status)),
            }
        }
    }

    /// The same, or `None` as soon as there is room for what is typed.
    pub async fn next_or_room(&mut self) -> Option<Result<Option<attach_response::Event>, Failure>> {
        let say = self.mouth.say.clone();
        tokio::select! {
            // A closed connection has no room, and says why it closed.
            Ok(_) = say.reserve() => None,
            told = self.next() => Some(told),
        }
    }
}

/// What is said to the session.
pub struct Mouth {
    say: mpsc::Sender<AttachRequest>,
    /// A size that found no room.
    owed: Option<Size>,
}

impl Mouth {
    pub fn has_room(&self) -> bool {
        self.say.capacity() > 0
    }

    pub fn type_in(&self, bytes: Vec<u8>) {
        let _ = self.say.try_send(request(attach_request::Event::Input(bytes.into())));
    }

    pub fn measured(&mut self, size: Size) {
        let (cols, rows) = (size.cols().into(), size.rows().into());
        let resize = request(attach_request::Event::Resize(ResizeRequest { cols, rows }));
        self.owed = self.say.try_send(resize).is_err().then_some(size);
    }

    /// Says what found no room before.
    pub fn catch_up(&mut self) {
        if let Some(size) = self.owed {
            self.measured(size);
        }
    }
}

fn request(event: attach_request::Event) -> AttachRequest {
    AttachRequest { event: Some(event) }
}

type Opening = Pin<Box<dyn Future<Output = Result<Box<Link>, Failure>>>>;

/// A lost connection that is being made again.
pub struct Retry {
    since: Instant,
    tries: u32,
    next: Opening,
}

impl Retry {
    pub fn new(place: &Place, size: Size) -> Self {
        Self { since: Instant::now(), tries: 0, next: opening(place, size, PAUSE_FIRST) }
    }

    /// How the next try ends.
    pub async fn next(&mut self) -> Result<Box<Link>, Failure> {
        (&mut self.next).await
    }

    /// The try failed: another one later, or the failure if there is no hope.
    pub fn again(&mut self, failure: Failure, place: &Place, size: Size) -> Result<(), Failure> {
        if is_final(&failure, &place.target) || self.since.elapsed() >= TRY_FOR {
            return Err(failure);
        }
        self.tries += 1;
        self.next = opening(place, size, pause(self.tries));
        Ok(())
    }

    /// What people are told meanwhile.
    pub fn told(&self) -> String {
        match self.tries {
            0 => "connection lost, connecting again; keys are not sent".to_owned(),
            tries => {
                let secs = pause(tries).as_secs_f32();
                format!("connection lost, try {} in {secs} s; keys are not sent", tries + 1)
            }
        }
    }
}

fn opening(place: &Place, size: Size, pause: Duration) -> Opening {
    let place = place.clone();
    Box::pin(async move {
        tokio::time::sleep(pause).await;
        Link::open(place, size).await
    })
}

fn pause(tries: u32) -> Duration {
    PAUSE_FIRST.saturating_mul(1 << tries.min(16)).min(PAUSE_LAST)
}

/// A socket that nobody listens on any more is never listened on again; a network may come back.
fn is_final(failure: &Failure, target: &Target) -> bool {
    match (failure, target) {
        (Failure::Silent { .. }, _) | (Failure::Unreachable { .. }, Target::Url(_)) => false,
        // What a proxy says while what is behind it is away.
        (Failure::Refused { error, .. }, Target::Url(_)) => !matches!(error.code, Code::Internal | Code::NotReady),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_says_while_the_session_is_away_is_not_the_end() {
        let url = Target::parse("http://proxy:1").unwrap();
        let said = |status: &tonic::Status| is_final(&Failure::of_status(&url, false, status), &url);
        // Of a proxy that knows gRPC, and of one that does not.
        assert!(!said(&tonic::Status::unavailable("no healthy upstream")));
        assert!(!said(&tonic::Status::unknown("502")));
        assert!(said(&tonic::Status::unauthenticated("wrong token")));
    }

    #[tokio::test]
    async fn a_lost_connection_is_tried_for_two_minutes_and_then_given_up() {
        let target = Target::parse("http://127.0.0.1:1").unwrap();
        let place = Place { target: target.clone(), credentials: Credentials::default(), view: false, terminal: None };
        let size = Size::new(80, 24).unwrap();
        let away = || Failure::of_status(&target, false, &tonic::Status::unavailable("away"));
        let mut retry = Retry::new(&place, size);
        retry.again(away(), &place, size).unwrap();
        assert_eq!(retry.told(), "connection lost, try 2 in 0.5 s; keys are not sent");
        retry.since = retry.since.checked_sub(TRY_FOR).unwrap();
        retry.again(away(), &place, size).unwrap_err();
    }

    #[test]
    fn a_size_that_finds_no_room_is_told_later_and_only_the_last() {
        let (say, mut said) = mpsc::channel(1);
        let mut mouth = Mouth { say, owed: None };
        let size = |cols| Size::new(cols, 9).unwrap();
        mouth.type_in(b"x".to_vec());
        mouth.measured(size(10));
        mouth.measured(size(20));
        mouth.catch_up();
        assert!(matches!(said.try_recv().unwrap().event, Some(attach_request::Event::Input(_))));
        assert!(said.try_recv().is_err());
        mouth.catch_up();
        let told = said.try_recv().unwrap().event;
        assert!(matches!(told, Some(attach_request::Event::Resize(ResizeRequest { cols: 20, rows: 9 }))), "{told:?}");
        mouth.catch_up();
        assert!(said.try_recv().is_err());
    }

    #[test]
    fn pauses_double_up_to_the_last() {
        let pauses: Vec<u128> = (0..7).map(|tries| pause(tries).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 5000, 5000]);
        assert_eq!(pause(u32::MAX), PAUSE_LAST);
    }
}
