// coop for browsers: the calls of a session and of all boxes, a session's states as a stream that survives a broken connection, and the contract's types.
export { createBoxesClient, createCoopClient, type BoxesClient, type CoopClient } from "./client.js";
export { reasonOf, type Reason } from "./errors.js";
export { states, stateWord, type State, type StateEvent, type StatesOptions } from "./states.js";
export * from "./gen/coop/v1/agent_pb.js";
export * from "./gen/coop/v1/boxes_pb.js";
export * from "./gen/coop/v1/coop_pb.js";
export * from "./gen/coop/v1/gates_pb.js";
export * from "./gen/coop/v1/input_pb.js";
export * from "./gen/coop/v1/lifecycle_pb.js";
export * from "./gen/coop/v1/nudge_pb.js";
export * from "./gen/coop/v1/screen_pb.js";
export * from "./gen/coop/v1/session_pb.js";
export * from "./gen/coop/v1/terminals_pb.js";
export * from "./gen/coop/v1/transcripts_pb.js";
