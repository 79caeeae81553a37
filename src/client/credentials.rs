//! What goes with every call: the token, and the lock that the caller holds.

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use super::Failure;
use crate::api::Secret;

/// Metadata for every call. The token's value is marked as sensitive, so that no log of a library shows it.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    authorization: Option<MetadataValue<Ascii>>,
    lock: Option<MetadataValue<Ascii>>,
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
        Ok(Self { authorization, lock })
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
        let bare = Credentials::default().call(Request::new(())).unwrap();
        assert!(bare.metadata().is_empty());
    }
}
