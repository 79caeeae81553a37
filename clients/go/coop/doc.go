// Package coop drives sessions of coop: terminal programs, AI coding agents above all, that run as a service.
//
// A [Session] is a connection to one coop. There are four ways to one:
//
//   - [Dial] with an address: http://HOST:PORT with a token, or unix:PATH;
//   - [Here]: the session that the environment names, or the only one on this machine;
//   - [Find] and [List]: by label or working directory;
//   - [Start]: a new one, which goes on when this process ends.
//
// What an agent does is a [State] with its evidence; [Session.States] streams the changes and takes itself up again when the
// connection breaks. A message ([Session.Nudge]) and an answer ([Session.Respond]) come back as a [Delivery]: delivered
// exactly when a witness saw the agent take it, and else with the reason.
//
// Errors are compared with errors.Is: [ErrExited], [ErrUnreachable], [ErrUnauthorized] and so on. Every call takes a
// context; one without a deadline gets a sensible one, except for the waits and streams.
//
// [Backend] is for programs that know sessions by name, as those do that drive tmux. Whatever is not here is among the
// generated calls, [Session.Calls].
package coop
