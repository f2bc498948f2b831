# SPDX-License-Identifier: Apache-2.0
# Thin: every target installs what is missing, then lets meson do the work. See HACKING.md.

PREFIX ?= /usr/local
VERSION = $(shell sed -n "s/^\tversion: '\(.*\)',/\1/p" meson.build)
DESTDIR ?=
FUZZ_SECONDS ?= 300
BENCH_FLAGS ?=
EXAMPLE ?= examples/cluster.yaml
CLANG ?= clang-14
CLANGXX ?= clang++-14

SETUP = meson setup --wrap-mode=nodownload
SANITIZE = --buildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false
C_SOURCES = $(shell find src include tests fuzz bench -name '*.[ch]' -o -name '*.cc')

.PHONY: build run check test test-long test-asan test-clang bench fuzz format tidy doc clean \
	install deb dist deps-build deps-test deps-install deps-dev deps-deb configure

build: configure
	ninja -C build berth example-plugins check_layers.stamp

run: build
	@# 1: some pods stay pending, which the example means to show.
	build/berth simulate -f $(EXAMPLE) || test $$? -eq 1
	@echo
	@echo "A whole cluster, for kubectl and every other client:"
	@echo
	@echo "  build/berth up --nodes 3 &"
	@echo "  export KUBECONFIG=$(CURDIR)/berth.kubeconfig"
	@echo "  kubectl create deployment web --image=nginx --replicas=3"
	@echo "  kubectl get pods -o wide"

# What to run before each commit: about a minute. It builds what these tests need and no more.
check: build/tests-enabled
	@tools/check_layers.py .
	@tools/run_tests.py build --suite unit --suite conformance --no-suite slow

test: build/tests-enabled
	@tools/run_tests.py build

# About ten minutes: more seeds than the tests have, for rare mistakes.
LONG_SEEDS ?= 1000
test-long: build/tests-enabled
	ninja -C build tests/soak/berth-soak tests/unit/plugins/test_plugins \
		tests/conformance/berth-conformance
	BERTH_VERIFY=1 build/tests/soak/berth-soak --seeds $(LONG_SEEDS) --faults all
	CK_FORK=no BERTH_RANDOM_SEEDS=$(LONG_SEEDS)0 \
		build/tests/unit/plugins/test_plugins topology_random
	BERTH_VERIFY=1 tests/conformance/compare_random.py \
		build/tests/conformance/berth-conformance $$(date +%s) 200 \
		mixed preempt evict churn dra devices

test-asan: deps-test
	@test -f build-asan/build.ninja || $(SETUP) $(SANITIZE) -Dtests=enabled build-asan
	@tools/run_tests.py build-asan

test-clang: deps-dev
	@test -f build-clang/build.ninja || \
		CC=$(CLANG) CXX=$(CLANGXX) $(SETUP) -Dtests=enabled build-clang
	@tools/run_tests.py build-clang

# BENCH_FLAGS="--quick --only spread": less of it.
bench: configure
	ninja -C build
	build/berth bench --suite $(BENCH_FLAGS)
	meson test -C build --no-rebuild --benchmark --verbose

fuzz: deps-dev
	@test -f build-fuzz/build.ninja || \
		CC=$(CLANG) CXX=$(CLANGXX) $(SETUP) $(SANITIZE) -Dfuzzers=true \
			-Dtests=enabled build-fuzz
	ninja -C build-fuzz
	tools/run-fuzzers.sh build-fuzz $(FUZZ_SECONDS)

format: deps-dev
	clang-format-14 -i $(C_SOURCES)

tidy: deps-dev
	tools/check_tidy.py .
	@test -f build-clang/build.ninja || \
		CC=$(CLANG) CXX=$(CLANGXX) $(SETUP) -Dtests=enabled build-clang
	tools/check_templates.py build-clang
	run-clang-tidy-14 -quiet -p build-clang '/(src|bench|tests/(soak|conformance))/.*\.c$$'

doc: deps-test
	@tools/check_doc.py . build/doc
	@echo build/doc/html/index.html

clean:
	rm -rf build build-asan build-clang build-fuzz build-deb

install: deps-install configure
	@# A folder configured before scdoc was installed knows no manual pages.
	@grep -q man_page.py build/build.ninja || meson setup --reconfigure build
	@# A folder may have been configured for another prefix.
	$(if $(filter file,$(origin PREFIX)),,meson configure build --prefix=$(PREFIX))
	ninja -C build installable
	DESTDIR=$(abspath $(DESTDIR)) meson install -C build --no-rebuild

# A folder of its own: a package is always for /usr.
deb: deps-deb
	@test -f build-deb/build.ninja || $(SETUP) --buildtype=release --prefix=/usr \
		-Dtests=disabled -Dyaml=enabled build-deb
	ninja -C build-deb installable
	rm -rf build-deb/root
	DESTDIR=$(CURDIR)/build-deb/root meson install -C build-deb --no-rebuild
	packaging/debian/build.sh $(CURDIR)/build-deb/root $(VERSION) build

# What a release consists of: the sources of the commit, the Debian package, and their checksums.
dist: deb
	@git diff --quiet HEAD || { echo "make dist: commit your changes first" >&2; exit 1; }
	@grep -q "^## $(VERSION) " CHANGELOG.md || \
		{ echo "make dist: CHANGELOG.md has no section $(VERSION)" >&2; exit 1; }
	rm -rf build/dist && mkdir -p build/dist
	git archive --prefix=berth-$(VERSION)/ -o build/dist/berth-$(VERSION).tar.gz HEAD
	cp build/berth_$(VERSION)_*.deb build/dist/
	cd build/dist && sha256sum berth* >SHA256SUMS && cat SHA256SUMS

configure: deps-build
	@test -f build/build.ninja || $(SETUP) --buildtype=release --prefix=$(PREFIX) build

# A folder configured before the test packages were installed knows no tests.
build/tests-enabled: deps-test configure
	@test -f $@ || { meson configure build -Dtests=enabled && touch $@; }

deps-build:
	@tools/install-deps.sh build

deps-test:
	@tools/install-deps.sh build test

deps-install:
	@tools/install-deps.sh build install

deps-dev:
	@tools/install-deps.sh build test dev

deps-deb:
	@tools/install-deps.sh build deb
