#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the Debian packages that are missing: install-deps.sh build|test|install|dev|deb ...
set -eu

packages_of() {
	case "$1" in
	build)
		echo gcc g++ libc6-dev meson ninja-build pkg-config python3 libyaml-dev zlib1g-dev \
			libmicrohttpd-dev libgnutls28-dev libsqlite3-dev libre2-dev
		;;
	test)
		echo check libjansson-dev python3-yaml python3-kubernetes openssl doxygen scdoc \
			mandoc bash-completion zsh fish chromium
		;;
	install) echo scdoc ;;
	dev) echo clang-14 libclang-rt-14-dev clang-tidy-14 clang-format-14 python3-clang-14 ;;
	deb) echo binutils dpkg-dev scdoc ;;
	*) echo "install-deps.sh: no package set '$1'" >&2; return 1 ;;
	esac
}

wanted=
for set_name in "$@"; do
	set_packages=$(packages_of "$set_name")
	wanted="$wanted $set_packages"
done

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "Not a Debian system: please provide the equivalents of$wanted" >&2
	command -v meson >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1
	exit
fi

missing=
for package in $wanted; do
	# shellcheck disable=SC2016
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif sudo -n true >/dev/null 2>&1; then
	as_root="sudo -n"
else
	echo "Missing packages. As root:" >&2
	echo "apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi

# Words are split on purpose from here on.
# shellcheck disable=SC2086
install() {
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends $missing >&2
}

echo "installing:$missing" >&2
if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
	$as_root apt-get update >&2
	install
elif ! install; then
	# The package lists may be too old for the archive.
	$as_root apt-get update >&2
	install
fi
