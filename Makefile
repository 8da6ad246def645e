# The floor under the coverage of internal/, in per cent.
COVERAGE  ?= 85
# How many inputs each fuzz target tries; a count, since a fuzzer that is cut off by time may report that as a failure.
FUZZTIME  ?= 20000x
# Which benchmarks run, and how often each; the best of them counts.
BENCH     ?= Durable|Growth|Start
BENCHTIME ?= 5x
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# Systems whose files and tests are vetted beside this one's.
FOREIGN   := darwin/arm64 windows/amd64

LINTER    := bin/golangci-lint
# The race detector needs a C compiler.
RACE       = $(shell command -v cc >/dev/null && echo -race)

.DEFAULT_GOAL := help
.PHONY: help build test cover lint bench fuzz cross setup tools clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/cairn
	go build -trimpath -ldflags '-s -w' -o bin/cairn ./cmd/cairn

test: setup ## run all tests with the race detector; internal/ must be covered
	go test $(RACE) -timeout 20m -covermode=atomic -coverpkg=./internal/... -coverprofile=coverage.out ./...
	@awk -v floor=$(COVERAGE) -f .ci/coverage.awk coverage.out

cover: coverage.out ## show the lines that the last test run left out, in a browser
	go tool cover -html=coverage.out

coverage.out:
	$(MAKE) test

lint: $(LINTER) ## look for what the compiler lets pass
	$(LINTER) run ./...

bench: ## measure, side by side with raw SQLite
	go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 30m ./internal/driver/local ./internal/assembly

fuzz: ## run every fuzz target on FUZZTIME inputs (20000x)
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' internal cmd | \
	while IFS=: read -r file name; do \
		echo "fuzz $${file%/*} $${name#func }"; \
		go test -run '^$$' -fuzz "^$${name#func }$$" -fuzztime $(FUZZTIME) "./$${file%/*}" || exit 1; \
	done

cross: ## build for every platform we promise
	@set -e; for p in $(PLATFORMS); do \
		echo "build $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 go build -o /dev/null ./cmd/cairn; \
	done
	@set -e; for p in $(FOREIGN); do \
		echo "vet $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 go vet ./...; \
	done

setup: ## install or name what the tests use beside Go
	@.ci/setup

tools: $(LINTER) ## build the linter into bin/

$(LINTER): tools/go.mod tools/go.sum
	go build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

clean: ## remove what make made
	rm -rf bin coverage.out
