#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Make a Debian package of an installation in DESTDIR with prefix /usr, as no user in particular.
# build.sh DESTDIR VERSION OUTPUT_FOLDER
set -eu

root=$1
version=$2
out=$3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
architecture=$(dpkg --print-architecture)

# The libraries for other programs and their headers are not what a cluster's machine needs.
rm -rf "${root:?}/usr/include" "$root"/usr/lib/*/libberth*.* "$root"/usr/lib/*/pkgconfig
find "$root/usr/lib" -type d -empty -delete 2>/dev/null || true

# A unit that is not enabled: whoever installs a package does not yet want a second scheduler.
install -D -m 0644 "$here/berth-scheduler.service" \
	"$root/usr/lib/systemd/system/berth-scheduler.service"
install -D -m 0644 "$here/copyright" "$root/usr/share/doc/berth/copyright"
# What is part of the program has its licence in the package.
if ! objdump -p "$root/usr/bin/berth" | grep -q 'NEEDED.*libre2'; then
	install -m 0644 /usr/share/doc/libre2-[0-9]*/copyright \
		"$root/usr/share/doc/berth/copyright.re2"
fi
mkdir -p "$root/usr/share/doc/berth/kubernetes"
install -m 0644 "$here"/../kubernetes/*.yaml "$root/usr/share/doc/berth/kubernetes/"
install -m 0644 "$here/../README.md" "$here/../../docs/recordings.md" "$root/usr/share/doc/berth/"
# Debian's zsh looks for what packages bring in a folder of its own.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_berth" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
find "$root/usr/share/man" -name '*.1' -exec gzip -9 -n {} +
strip --strip-unneeded "$root/usr/bin/berth"

# dpkg-shlibdeps wants a source package around it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
printf 'Source: berth\n\nPackage: berth\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/berth" 2>/dev/null |
	sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "build.sh: the program's libraries are not of packages" >&2; exit 1; }

mkdir -p "$root/DEBIAN" "$out"
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/$depends/" \
	-e "s/@INSTALLED_KIB@/$(du -sk "$root/usr" | cut -f1)/" \
	"$here/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)
dpkg-deb --root-owner-group --build "$root" "$out/berth_${version}_${architecture}.deb"
