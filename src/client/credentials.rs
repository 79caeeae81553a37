//! What goes with every call: the token, the lock that the caller holds, and the box that is meant where many are served.

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use super::{Failure, Target};
use crate::api::Secret;

/// Metadata for every call. The token's value is marked as sensitive, so that no log of a library shows it.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    authorization: Option<MetadataValue<Ascii>>,
    lock: Option<MetadataValue<Ascii>>,
    served_box: Option<MetadataValue<Ascii>>,
}

impl Credentials {
    pub fn new(token: Option<&Secret>, lock: Option<&str>) -> Result<Self, Failure> {
        let wrong = |what: &str| Failure::Choice(format!("the {what} cannot be sent: it holds more than plain ASCII"));
        let authorization = token.map(|token| format!("Bearer {}", token.reveal()).parse::<MetadataValue<Ascii>>());
        let mut authorization = authorization.transpose().map_err(|_| wrong("token"))?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let lock = lock.map(str::parse::<MetadataValue<Ascii>>).transpose().map_err(|_| wrong("lock"))?;
        Ok(Self { authorization, lock, served_box: None })
    }

    /// The same for calls to this address.
    pub(super) fn at(self, target: &Target) -> Self {
        // The name of a box is plain ASCII.
        Self { served_box: target.served_box().and_then(|name| name.parse().ok()), ..self }
    }
}

impl Interceptor for Credentials {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = request.metadata_mut();
        if let Some(value) = &self.authorization {
            metadata.insert("authorization", value.clone());
        }
        if let Some(value) = &self.lock {
            metadata.insert("coop-lock", value.clone());
        }
        if let Some(value) = &self.served_box {
            metadata.insert("coop-box", value.clone());
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_lock_go_with_every_call_and_the_token_is_not_shown() {
        let mut credentials = Credentials::new(Some(&Secret::new("hush")), Some("lock-1")).unwrap();
        assert!(!format!("{credentials:?}").contains("hush"));
        let request = credentials.call(Request::new(())).unwrap();
        assert_eq!(request.metadata().get("authorization").unwrap(), "Bearer hush");
        assert_eq!(request.metadata().get("coop-lock").unwrap(), "lock-1");
        let mut at_a_box = credentials.at(&Target::parse("host:1/box/red").unwrap());
        assert_eq!(at_a_box.call(Request::new(())).unwrap().metadata().get("coop-box").unwrap(), "red");
        let bare = Credentials::default().call(Request::new(())).unwrap();
        assert!(bare.metadata().is_empty());
    }
}
