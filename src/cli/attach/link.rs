//! The connection of an attached terminal: made with a hello, lost, and made again.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::about::About;
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
}

/// An open connection.
pub struct Link {
    say: mpsc::Sender<AttachRequest>,
    told: Streaming<AttachResponse>,
    client: Client,
    pub about: About,
}

impl Link {
    /// Joins with this size.
    pub async fn open(place: Place, size: Size) -> Result<Box<Self>, Failure> {
        let client = connect_lasting(place.target.clone(), place.credentials).await?;
        let about = About::ask(&client, &place.target).await?;
        let (say, said) = mpsc::channel(SAID_MAX);
        let (cols, rows) = (Some(size.cols().into()), Some(size.rows().into()));
        // coop knows the picture and answers queries from it; the outer terminal never sees them.
        let hello = AttachHello { cols, rows, view: place.view, answers: Some(false) };
        // The channel is empty, so that there is room.
        let _ = say.try_send(request(attach_request::Event::Hello(hello)));
        let told = client.answer(client.calls().attach(ReceiverStream::new(said))).await?;
        Ok(Box::new(Self { say, told, client, about }))
    }

    pub fn has_room(&self) -> bool {
        self.say.capacity() > 0
    }

    pub fn type_in(&self, bytes: Vec<u8>) {
        let _ = self.say.try_send(request(attach_request::Event::Input(bytes.into())));
    }

    pub fn measured(&self, size: Size) {
        let (cols, rows) = (size.cols().into(), size.rows().into());
        let _ = self.say.try_send(request(attach_request::Event::Resize(ResizeRequest { cols, rows })));
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
        let say = self.say.clone();
        tokio::select! {
            // A closed connection has no room, and says why it closed.
            Ok(_) = say.reserve() => None,
            told = self.next() => Some(told),
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
        (Failure::Refused { code, .. }, Target::Url(_)) => !matches!(code, crate::api::Code::Internal),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_last() {
        let pauses: Vec<u128> = (0..7).map(|tries| pause(tries).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 5000, 5000]);
        assert_eq!(pause(u32::MAX), PAUSE_LAST);
    }
}
