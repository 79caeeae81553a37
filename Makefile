# What a developer does here; each target says so in a line. `make` lists them.

.DEFAULT_GOAL := help
.PHONY: help build test further images terminals interop agents agents-long bench check fmt goldens clients

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

build: ## the release binary
	cargo build --release

test: ## everything that needs only Rust
	cargo test

further: images terminals interop agents ## everything that needs more, one after the other (installs what is missing)

images: ## a real registry, full disks, users from a range (installs what is missing)
	bash tests/images/run

terminals: ## a real tmux and GNU screen, with vim, htop and less (installs what is missing)
	bash tests/terminals/run

interop: ## clients not written here, and the web page in a browser (installs what is missing)
	bash tests/interop/run

agents: ## real agents from npm, with a model of our own (installs what is missing)
	bash tests/agents/run

agents-long: ## the same three times in a row, then hundreds of random rounds with each agent (over an hour, on a calm machine)
	AGENTS_REPEAT=3 bash tests/agents/run
	COOP_ROUNDS=200 bash tests/agents/run claude::rounds
	COOP_ROUNDS=100 bash tests/agents/run codex::rounds
	COOP_ROUNDS=100 bash tests/agents/run gemini::rounds

bench: ## speed and memory, beside their peers (some minutes, on a calm machine)
	cargo bench --bench coop
	cargo bench --bench boxes

check: ## formatting, lints, licences
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo clippy --test agents --test images --test terminals -- -D warnings
	cargo deny check

fmt: ## format Rust and proto
	cargo fmt
	buf format -w

clients: ## rewrite the generated half of clients/ after a change of the contract (installs what is missing)
	bash clients/generate

goldens: ## rewrite the pinned JSON, descriptor and OpenAPI after a wanted change of the contract
	COOP_BLESS=1 cargo test --test it goldens
