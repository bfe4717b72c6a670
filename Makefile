# Reprise. A fresh machine needs Go, gcc, git and make.
#   make demo    trace and replay HPL on Stampede's fat tree
#   make test    the short tests, and all runs that SimGrid recorded
#   make nightly every test, also with the race detector; fuzzing, Slurm, NFS, arm64, 500 random cases
#   make crosscheck   replay against SimGrid itself on fresh random cases

GO      ?= go
OUT     ?= out
# Of crosscheck: number of cases, what they are drawn from, further flags.
CASES   ?= 40
SEED    ?= 1
CROSSCHECKFLAGS ?=
# Of bench: flags of scripts/bench, such as -smpirun.
BENCHFLAGS ?=
# Of bench-report: flags of scripts/report, such as -long or -only=scaling,traces.
REPORTFLAGS ?=
# Of validate: directory of the published data, further flags of scripts/validate
# (-short: no data needed, a minute; -intervals=1,2: estimates and complete runs).
VALIDATION ?=
VALIDATEFLAGS ?=
# Of reality: flags of scripts/reality (-short: two small runs).
REALITYFLAGS ?=
# The nearest tag, else the day of the commit and the commit.
VERSION ?= $(shell scripts/version.sh --dirty)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
# One way to compile for tests and commands, so that both share what is compiled: without cgo, and without what cli has
# to write manuals: its Markdown would take a tenth of the start. The race detector needs cgo.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -tags=urfave_cli_no_docs
LDFLAGS  = -X reprise/internal/command.version=$(VERSION) -X reprise/internal/command.commit=$(COMMIT)
# Of install: where to, below what (for packages).
PREFIX  ?= /usr/local
DESTDIR ?=
# Of fuzz: the time of each target, and of those for traces and XML.
FUZZTIME ?= 10s
FUZZLONG ?= $(FUZZTIME)

.PHONY: demo build test long nightly slurmtest nfstest race invariants bench bench-report docs picture reality validate fuzz crosscheck crossarch lint generated licenses dist install uninstall clean

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...
	cp LICENSE THIRD_PARTY_LICENSES.txt bin/

demo: build
	PATH="$(CURDIR)/bin:$$PATH" scripts/demo.sh $(OUT)

# The short tests, and SimGrid's oracle by itself, to print the worst difference to its
# recorded times, by family of cases. All tests are part of make nightly. Vet runs here, where everything
# is compiled anyway, and not in make lint.
ORACLE = ^TestAgreesWithSimGrid$$
test:
	$(GO) test -vet=all -short -skip '$(ORACLE)' ./...
	@mkdir -p $(OUT)
	$(GO) test -vet=off -v -run '$(ORACLE)' ./replay > $(OUT)/oracle.txt || { cat $(OUT)/oracle.txt; exit 1; }
	@sed -n 's/^ *oracle_test.go:[0-9]*: //p' $(OUT)/oracle.txt

# All tests.
long:
	$(GO) test -timeout 60m ./...

# Before a release, or before a larger change lands: two hours on two cores.
nightly: long
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -short -race -timeout 60m ./...
	$(MAKE) fuzz crossarch slurmtest nfstest
	$(MAKE) crosscheck CASES=500
	$(MAKE) validate VALIDATEFLAGS=-short

# The tests that need a Slurm, on three of two nodes that scripts/slurm.sh starts here, at once: most
# of it is waiting, a minute for the end of a job's limit. Installs it where it is missing (Debian,
# as root). More kills: REPRISE_SLURM=1 go test -v -run TestKilledSteps ./study/slurm -kills 1000 -timeout 2h
SLURMTEST = $(abspath $(OUT))/slurm.test -test.timeout 30m
slurmtest:
	scripts/slurm.sh install
	@mkdir -p $(OUT)
	$(GO) build -o $(OUT)/study ./cmd/study
	$(GO) test -c -o $(OUT)/slurm.test ./study/slurm
	cd study/slurm && export REPRISE_SLURM=1 REPRISE_STUDY=$(abspath $(OUT))/study; \
	$(SLURMTEST) -test.run '^TestWalltime$$' & walltime=$$!; \
	$(SLURMTEST) -test.run '^TestStudies$$' & studies=$$!; \
	$(SLURMTEST) -test.skip '^(TestWalltime|TestStudies)$$'; others=$$?; \
	wait $$walltime; walltime=$$?; wait $$studies; studies=$$?; \
	exit $$((walltime + studies + others))
	REPRISE_SLURM=1 $(GO) test -count=1 -run '^TestClusters$$' ./internal/docs

# Workers killed on two hosts that share a directory over NFS, 3 and 4.2, a minute. Installs a
# user-mode Linux and an NFS server where they are missing (Debian, as root).
KILLS ?= 50
nfstest:
	scripts/nfs.sh install
	@mkdir -p $(OUT)
	$(GO) build -o $(OUT)/study ./cmd/study
	$(GO) test -c -o $(OUT)/slurm.test ./study/slurm
	for version in 3 4.2; do \
		scripts/nfs.sh run $$version env REPRISE_STUDY=$(abspath $(OUT))/study $(abspath $(OUT))/slurm.test \
			-test.v -test.run '^TestKill$$' -workers $(KILLS) -pause 500ms -dirs /run/a,/run/b || exit 1; \
	done

# The race detector on packages that start goroutines (TestRaceList of internal/importrules), for the tests in which
# these run; make nightly runs all tests with it. Its wait of a second at the end of each process is left out, as
# scripts start hundreds of processes.
CONCURRENT = ./calibrate/measure ./calibrate/measure/network ./internal/command ./replay ./replay/sampling \
	./study ./study/tune ./study/workqueue ./tracegen/capture ./tracegen/hpl ./tracegen/simgrid
PARALLEL = Run$$|Runs|Work|Take|Dead|Rounds|TimeLimit|Process|Interrupt|ExitCode|ReadAhead|ManyRows|PivotSources|Stops|GoesOn|Uncertain|Guards|PartialDrops
race:
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -vet=off -short -race -run '$(PARALLEL)' $(CONCURRENT)

# The short tests of engine and network with checks of what their code guarantees: that
# times add up, that no link carries more than it can.
invariants:
	$(GO) test -vet=off -short -tags invariants,urfave_cli_no_docs ./netmodel/... ./replay

bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./...
	$(GO) run ./scripts/bench $(BENCHFLAGS)

# Measures the figures of docs/performance.md and prints them as CSV, on a quiet machine, in ten
# minutes (-long: an hour).
bench-report: build
	$(GO) run ./scripts/report $(REPORTFLAGS)

# Draws the pictures of README.md and of docs/report.md from real runs: three minutes.
docs: build
	scripts/docs.sh

# Draws the picture of README.md from a replay's own report: two minutes.
picture: build
	$(GO) run ./scripts/picture

# How well this machine is predicted (docs/reality.md): calibrates it, predicts runs of HPL, then
# runs HPL. An hour, on a machine with nothing else to do.
reality: build
	scripts/install-test-tools.sh
	scripts/install-hpcc.sh
	$(GO) run ./scripts/reality -o $(OUT)/reality $(REALITYFLAGS)

# Compares with published runs and simulations of HPL (docs/validation.md): a summary, and tables
# in out/validation.
validate: build
	$(GO) run ./scripts/validate -o $(OUT)/validation $(if $(VALIDATION),-data $(VALIDATION)) $(VALIDATEFLAGS)

fuzz:
	scripts/fuzz.sh $(FUZZTIME) $(FUZZLONG)

# Fresh random cases, replay against smpirun (docs/crosscheck.md). Longer ones:
# make crosscheck CASES=5000 SEED=20260101 CROSSCHECKFLAGS='-long 50 -collectives default,ompi,mpich'
crosscheck: build
	scripts/crosscheck.sh $(CASES) $(SEED) $(CROSSCHECKFLAGS)

# The same bits from programs for amd64 and for arm64, the latter under qemu, in a minute or two
# (docs/crosscheck.md). Needs amd64.
crossarch:
	scripts/crossarch.sh $(OUT)/crossarch

lint:
	scripts/lint.sh

# What is generated is what is committed.
generated:
	scripts/generated.sh

# Of all that is linked; for a change of go.mod.
licenses:
	scripts/licenses.sh

# Archives for Linux and macOS, amd64 and arm64, in out/dist, with checksums: the same
# bytes for the same commit, Go, tar and gzip.
dist:
	scripts/dist.sh $(OUT)/dist

# Commands, completion for bash, zsh and fish, manual pages, documentation with the built-in machines, licenses. As root,
# or with PREFIX=$$HOME/.local.
DOC = $(DESTDIR)$(PREFIX)/share/doc/reprise
install: build
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DOC)"
	install $(addprefix bin/,$(notdir $(wildcard cmd/*))) "$(DESTDIR)$(PREFIX)/bin"
	install -m 644 README.md CHANGELOG.md CONTRIBUTING.md LICENSE THIRD_PARTY_LICENSES.txt "$(DOC)"
	cp -r docs platforms/machines "$(DOC)"
	rm -f "$(DOC)"/machines/*.go
	scripts/share.sh bin "$(DESTDIR)$(PREFIX)/share"

# What install has written below PREFIX.
uninstall:
	scripts/share.sh --remove "$(DESTDIR)$(PREFIX)/share"
	cd "$(DESTDIR)$(PREFIX)/bin" && rm -f $(notdir $(wildcard cmd/*))
	rm -rf "$(DOC)"

clean:
	rm -rf bin $(OUT)
