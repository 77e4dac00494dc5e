# shellcheck shell=bash
# What the project needs of Debian 12, and how it gets there. Sourced, never run.
#
# shellcheck disable=SC2034 # the lists are for those who source this

# Package, and a file that shows that it is there (a package's own record is not on every system).
needed_packages=(
    "pkg-config /usr/bin/pkg-config"
    "librdkafka-dev /usr/include/librdkafka/rdkafka.h"
    "libmicrohttpd-dev /usr/include/microhttpd.h"
    "libgnutls28-dev /usr/include/gnutls/gnutls.h"
    "zlib1g-dev /usr/include/zlib.h"
)

# What the checks need besides.
check_packages=(
    "shellcheck /usr/bin/shellcheck"
    "valgrind /usr/bin/valgrind"
    "prometheus /usr/bin/promtool"
    "python3 /usr/bin/python3"
    "kcat /usr/bin/kcat"
    "curl /usr/bin/curl"
    "openssl /usr/bin/openssl"
)

# What the broker that tests start needs.
broker_packages=(
    "openjdk-17-jre-headless /usr/bin/java"
    "python3 /usr/bin/python3"
)

# What the checks of the page need: a browser, and fonts for the names that it shows.
browser_packages=(
    "chromium /usr/bin/chromium"
    "fonts-noto-core /usr/share/fonts/truetype/noto/NotoSans-Regular.ttf"
    "fonts-noto-cjk /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"
    "fonts-noto-color-emoji /usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
)

# install_missing "PACKAGE FILE"...: installs the packages whose file is not there, as root or by
# sudo; says what is missing and fails where it can't.
install_missing() {
    local entry package file missing=() as_root=()
    for entry in "$@"; do
        read -r package file <<<"$entry"
        [[ -e $file || " ${missing[*]} " == *" $package "* ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "missing: ${missing[*]} (Debian's names; there is no apt-get here)" >&2
        return 1
    fi
    if [[ $EUID -ne 0 ]]; then
        if ! command -v sudo >/dev/null; then
            echo "missing: ${missing[*]} (install them as root: apt-get install ${missing[*]})" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "installing: ${missing[*]}"
    "${as_root[@]}" apt-get -qq update \
        && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
}

# need_swift: fails, saying what to do, where there is no Swift 6.
need_swift() {
    if ! command -v swift >/dev/null; then
        echo "missing: Swift 6.3 for Debian 12, from https://www.swift.org/install/linux" >&2
        return 1
    fi
    if ! swift --version 2>/dev/null | grep -q 'Swift version 6\.[2-9]'; then
        echo "Swift 6.2 or newer is needed; this is: $(swift --version 2>/dev/null | head -n 1)" >&2
        return 1
    fi
}
