# Reprise. A fresh machine needs Go, gcc, git and make.
#   make demo    trace and replay HPL on Stampede's fat tree
#   make test    all tests, the recorded runs of HPL and SimGrid among them

GO      ?= go
OUT     ?= out
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  = -X main.version=$(VERSION)
FUZZTIME ?= 10s

.PHONY: demo build test short race bench fuzz lint proto install clean

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

demo: build
	PATH="$(CURDIR)/bin:$$PATH" scripts/demo.sh $(OUT)

test:
	$(GO) test ./...

short:
	$(GO) test -short ./...

# The race detector slows the large cases down tenfold: the short tests suffice,
# as they run every goroutine that there is.
race:
	$(GO) test -short -race ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz:
	scripts/fuzz.sh $(FUZZTIME)

lint:
	scripts/lint.sh

proto:
	scripts/proto.sh

install:
	$(GO) install -ldflags '$(LDFLAGS)' ./cmd/...

clean:
	rm -rf bin $(OUT)
