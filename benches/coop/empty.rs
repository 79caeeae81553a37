//! The least that an axum server can do: an empty answer.

use anyhow::Result;
use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;

pub async fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/", get(async || {}))).await?;
    Ok(())
}
