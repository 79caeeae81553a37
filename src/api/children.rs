//! The next child: starting it again, and what it is given.

use super::error::ApiError;
use super::service::Service;
use crate::proto::v1;
use crate::session::{BadVariable, Change, Environment, Refusal};

impl Service {
    /// Starts the child anew; `by_hand` when somebody asked for it.
    pub(super) async fn restart_child(
        &self,
        request: v1::RestartRequest,
        by_hand: bool,
    ) -> Result<v1::RestartResponse, ApiError> {
        // A command line that names its conversation cannot simply be used again.
        let resumes = request.resume.unwrap_or_default();
        let again = match &self.agent {
            Some(agent) => agent.again(resumes, &request.env).await,
            None => None,
        };
        let (argv, keeps) = again.map_or((None, resumes), |again| (again.argv, again.keeps_conversation));
        let (pid, seq) = self.session.restart(request.env, argv, keeps, by_hand).await?;
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

    pub(super) async fn variable(&self, key: String) -> Result<v1::Variable, ApiError> {
        let request = v1::GetEnvironmentRequest { names: vec![key.clone()] };
        let value = self.environment(&request).await?.variables.remove(&key);
        Ok(v1::Variable { key, value })
    }

    pub(super) async fn change_variable(&self, request: v1::SetVariableRequest) -> Result<v1::Variable, ApiError> {
        let v1::SetVariableRequest { key, value } = request;
        let change = Change { set: [(key.clone(), value)].into(), unset: Vec::new() };
        let value = self.session.change_environment(change).await?.variables.remove(&key);
        Ok(v1::Variable { key, value })
    }
}

fn in_words(environment: Environment) -> v1::Environment {
    v1::Environment { variables: environment.variables, unset: environment.unset.into_iter().collect() }
}
