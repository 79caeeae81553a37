//! The next child: starting it again, and what it is given.

use super::error::ApiError;
use super::service::Service;
use crate::proto::v1;
use crate::session::{BadVariable, Change, Environment, Refusal};

impl Service {
    pub(super) async fn restart_child(&self, request: v1::RestartRequest) -> Result<v1::RestartResponse, ApiError> {
        // A command line that names its conversation cannot simply be used again.
        let argv = match &self.agent {
            Some(agent) => agent.argv_again(request.resume.unwrap_or_default()),
            None => None,
        };
        let (pid, seq) = self.session.restart(request.env, argv).await?;
        Ok(v1::RestartResponse { pid: Some(pid), seq: seq.0 })
    }

    pub(super) async fn environment(&self, request: &v1::GetEnvironmentRequest) -> Result<v1::Environment, ApiError> {
        for name in &request.names {
            BadVariable::check_name(name).map_err(Refusal::from)?;
        }
        let mut environment = in_words(self.session.environment().await?);
        if !request.names.is_empty() {
            environment.variables.retain(|name, _| request.names.contains(name));
            environment.unset.retain(|name| request.names.contains(name));
        }
        Ok(environment)
    }

    pub(super) async fn change_environment(
        &self,
        request: v1::SetEnvironmentRequest,
    ) -> Result<v1::Environment, ApiError> {
        let change = Change { set: request.set, unset: request.unset };
        Ok(in_words(self.session.change_environment(change).await?))
    }
}

fn in_words(environment: Environment) -> v1::Environment {
    v1::Environment { variables: environment.variables, unset: environment.unset.into_iter().collect() }
}
