# One name for each chore.  Meson does the building; this makes sure that the Debian packages a chore
# needs are installed (tools/deps) and that its build directory is set up, once.
#
#   make            release build: build/cove, build/cove-guest, build/libcove.so
#   make test       every suite under ASan and UBSan; SUITE=unit for one of them
#   make lint       format, static analysis, and the repository's own rules; STEP=tidy for one of them
#   make soak       the tests that take long
#   make bench      ratios to other programs, measured side by side
#   make demo       the main job, on real input
#   make install    into PREFIX, below DESTDIR
#   make deps       every package of every chore
#   make clean      remove the build directories

PREFIX ?= /usr/local
DESTDIR ?=
SUITE ?=
STEP ?=

.PHONY: all demo test soak bench lint install clean deps
.PHONY: deps-build deps-test deps-lint deps-bench deps-demo release sanitized

all: release

demo: deps-demo release
	@tools/demo

test: release sanitized
	@tools/run-tests $(SUITE:%=--suite %)

soak: release sanitized
	@tools/run-tests --suite soak

bench: deps-bench release
	@bench/run

lint: deps-lint release
	@tools/lint $(STEP)

install: release
	meson configure build -Dprefix='$(PREFIX)'
	DESTDIR='$(DESTDIR)' meson install -C build

clean:
	rm -rf build build-test build-analyze build-fuzz demo-out

deps:
	@tools/deps build test lint bench fuzz demo

deps-build deps-test deps-lint deps-bench deps-demo:
	@tools/deps build $(@:deps-%=%)

release: build/build.ninja
	@ninja -C build --quiet

sanitized: build-test/build.ninja
	@ninja -C build-test --quiet

# Order-only: a package check each time, a setup only when there is none.
build/build.ninja: | deps-build
	meson setup build --buildtype=release

build-test/build.ninja: | deps-test
	meson setup build-test -Dbuildtype=debug -Db_sanitize=address,undefined
