# All commands of the project. `make demo` and `make test` include the set-up.
.DEFAULT_GOAL := help
SHELL := /bin/bash
BIN := .venv/bin

.PHONY: help demo demo-market demo-chain test check fix drills bench bench-scale bench-start bench-sandbox bench-judge bench-market bench-chain bench-web bench-abuse bench-capacity lines screenshots test-docker test-lowest fuzz docs contract lock clean setup

help:  ## Show this list.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup:
	@scripts/setup

demo: setup  ## Benchmark the bundled agents in a project (demo/), show the result, serve http://localhost:5109 (ONCE=1: no server).
	@scripts/demo $(if $(ONCE),--once)

demo-market: setup  ## Post three paid tasks, let two agents compete, judge, show who was paid and why.
	@scripts/setup --system bwrap=bubblewrap node=nodejs libseccomp.so.2=libseccomp2
	@scripts/demo-market

demo-chain: setup  ## Run the market on a local Ethereum node: deploy the contract, post, judge and pay.
	@scripts/setup --anvil
	@scripts/demo-chain

# Programs that the tests need; the second line has the languages of the sandbox.
TEST_TOOLS := jq curl bwrap=bubblewrap libseccomp.so.2=libseccomp2 ip=iproute2 chromium \
  python3 node=nodejs tsc=node-typescript gcc g++ rustc go=golang-go javac=default-jdk-headless ruby perl php=php-cli lua=lua5.4

# Three workers on two cores: waiting tests leave a tenth of the CPU idle.
test: setup  ## Check the code, then run every test.
	@scripts/setup --system $(TEST_TOOLS)
	@scripts/setup --anvil
	@scripts/setup --frameworks
	@$(MAKE) --no-print-directory check
	$(BIN)/pytest -n 3 $(PYTEST_ARGS)

check: setup  ## Check lint, types and import rules, in Python and the dashboard.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(if $(ARENA_SKIP_WEB),,scripts/npm run --silent check)

fix: setup  ## Fix what the tools can fix.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	scripts/npm run --silent fix

bench: setup  ## Measure speed and memory (figures, not tests).
	$(BIN)/python benchmarks/flow.py
	$(BIN)/python benchmarks/dataset.py
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/workspaces.py
	$(BIN)/python benchmarks/scores.py --database sqlite

bench-start: setup  ## Measure the start-up of commands, compared with their unavoidable imports.
	$(BIN)/python benchmarks/start.py

bench-sandbox: setup  ## Measure the overhead of the sandbox.
	@scripts/setup --system bwrap=bubblewrap node=nodejs libseccomp.so.2=libseccomp2
	$(BIN)/python benchmarks/sandbox.py

bench-market: setup  ## Run 10,000 paid tasks: cost per task, and a check that the money adds up.
	$(BIN)/python benchmarks/market.py

bench-chain: setup  ## Run 100 paid tasks on a local Ethereum node: time per task, and what is left in the contract.
	@scripts/setup --anvil
	$(BIN)/python benchmarks/chain.py

bench-judge: setup  ## Measure the overhead of a judge's calls.
	$(BIN)/python benchmarks/judge.py

bench-web: setup  ## Measure how long the dashboard blocks a browser, with a run of 5,000 results.
	@scripts/setup --system chromium
	$(BIN)/python benchmarks/web.py

bench-abuse: setup  ## Measure how long other clients wait while one abuses a server.
	$(BIN)/python benchmarks/abuse.py
	$(BIN)/python benchmarks/fairness.py

bench-capacity: setup  ## Calculate what PostgreSQL needs for up to a thousand workers, from measured costs.
	$(BIN)/python benchmarks/capacity.py

bench-scale: setup  ## Measure what workers and the queue cost and gain: speed-up, CPU, takeover.
	$(BIN)/python benchmarks/scale.py

drills: setup  ## Inject 300 faults while workers execute runs: nothing may be lost or doubled (SEED=7 for others).
	@scripts/setup --system bwrap=bubblewrap libseccomp.so.2=libseccomp2 ip=iproute2 gcc
	$(BIN)/python benchmarks/drills.py $(if $(SEED),--seed $(SEED))

# The last commit of 0.1, for clones without its tag.
V0_1 := c1a9331

lines: setup  ## Count the lines of code per room, against BASE (default: 0.1), and repeated field lists.
	$(BIN)/python benchmarks/lines.py --base $(or $(BASE),$(V0_1)) --fields

screenshots: setup  ## Take the README's screenshots again (docs/images).
	@scripts/setup --system chromium
	@mkdir -p docs/images
	ARENA_TEST_SCREENSHOTS=$(CURDIR)/docs/images $(BIN)/pytest -q tests/acceptance/web/test_screenshots.py

test-docker: setup  ## Run the contract tests of the Docker provider on a real engine (Debian's docker.io; needs root).
	@scripts/setup --system dockerd=docker.io curl
	scripts/test-docker

test-lowest: setup  ## Run the tests with the lowest versions that pyproject.toml allows (not the browser's).
	scripts/test-lowest $(PYTEST_ARGS)

fuzz: setup  ## Compare 20,000 generated JavaScript programs with plain node (SEED=7 for others).
	@scripts/setup --system bwrap=bubblewrap node=nodejs libseccomp.so.2=libseccomp2
	ARENA_FUZZ_PROGRAMS=20000 ARENA_FUZZ_SEED=$(or $(SEED),12) $(BIN)/pytest -q -s tests/integration/sandbox/test_javascript.py

docs: setup  ## Write the generated files: docs/reference and the dashboard's types.
	$(BIN)/python scripts/write_reference.py
	scripts/npm run --silent types

contract: setup  ## Compile the contract into the artifact that ships with Arena.
	$(BIN)/python scripts/compile_contract.py

lock: setup  ## Choose the newest versions and write the lock files.
	scripts/lock --upgrade

clean:  ## Remove everything that was installed or built here.
	rm -rf .venv .venv-lowest .venv-frameworks .arena demo .pytest_cache .ruff_cache .import_linter_cache .hypothesis web/node_modules scripts/anvil/node_modules src/arena/dashboard/dist
