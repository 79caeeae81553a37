package coop

import (
	"strings"

	coopv1 "coop.dev/clients/go/coop/v1"
)

// State is what an agent does.
type State = coopv1.AgentStateKind

// What an agent does.
const (
	Starting   = coopv1.AgentStateKind_AGENT_STATE_KIND_STARTING
	Working    = coopv1.AgentStateKind_AGENT_STATE_KIND_WORKING
	Idle       = coopv1.AgentStateKind_AGENT_STATE_KIND_IDLE
	AtPrompt   = coopv1.AgentStateKind_AGENT_STATE_KIND_PROMPT
	InError    = coopv1.AgentStateKind_AGENT_STATE_KIND_ERROR
	Parked     = coopv1.AgentStateKind_AGENT_STATE_KIND_PARKED
	Restarting = coopv1.AgentStateKind_AGENT_STATE_KIND_RESTARTING
	Exited     = coopv1.AgentStateKind_AGENT_STATE_KIND_EXITED
	Unknown    = coopv1.AgentStateKind_AGENT_STATE_KIND_UNKNOWN
)

// What an agent asks for.
const (
	Permission = coopv1.PromptType_PROMPT_TYPE_PERMISSION
	Plan       = coopv1.PromptType_PROMPT_TYPE_PLAN
	Question   = coopv1.PromptType_PROMPT_TYPE_QUESTION
	Setup      = coopv1.PromptType_PROMPT_TYPE_SETUP
)

// How far an input got.
const (
	Queued      = coopv1.ReceiptPhase_RECEIPT_PHASE_QUEUED
	Written     = coopv1.ReceiptPhase_RECEIPT_PHASE_WRITTEN
	Echoed      = coopv1.ReceiptPhase_RECEIPT_PHASE_ECHOED
	Accepted    = coopv1.ReceiptPhase_RECEIPT_PHASE_ACCEPTED
	Refused     = coopv1.ReceiptPhase_RECEIPT_PHASE_REFUSED
	Unconfirmed = coopv1.ReceiptPhase_RECEIPT_PHASE_UNCONFIRMED
)

// AgentState is what an agent does, whole and of one moment.
type AgentState = coopv1.AgentState

// Prompt is the dialog that an agent shows.
type Prompt = coopv1.PromptContext

// Status is how a session stands: the child's life, counters, labels, directory.
type Status = coopv1.GetStatusResponse

// The beginnings of the names of enum values, which JSON and people do without.
var prefixes = []string{"AGENT_STATE_KIND_", "PROMPT_TYPE_", "RECEIPT_PHASE_", "SESSION_STATE_"}

// Word is an enum's value as coop's JSON writes it: "idle", "permission", "accepted".
func Word(value interface{ String() string }) string {
	name := value.String()
	for _, prefix := range prefixes {
		if word, ok := strings.CutPrefix(name, prefix); ok {
			return strings.ToLower(word)
		}
	}
	return strings.ToLower(name)
}
