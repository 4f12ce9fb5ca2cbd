# shellcheck shell=bash
# Debian packages: installs those of setup/debian-packages.txt that are missing. Needs say.sh; $root is the checkout.

# install_packages USE...: USE is a word of the list's first column.
install_packages() {
  local use name missing=() as_root=()
  while read -r use name; do
    [[ " $* " == *" $use "* ]] || continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
  done < <(grep -v '^#' "${root:?}/setup/debian-packages.txt")
  ((${#missing[@]})) || return 0

  command -v apt-get >/dev/null ||
    stop "this machine has no apt-get. sapper is built on Debian 12; elsewhere install what provides: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      stop "${#missing[@]} Debian packages are missing, and there is no sudo. As root, run: apt-get install ${missing[*]}"
    say "${#missing[@]} Debian packages are missing; sudo may ask for your password"
    sudo -v 2>/dev/null || sudo -n true ||
      stop "sudo did not let this user in. As root, run: apt-get install ${missing[*]}"
    as_root=(sudo -n)
  fi
  step "Debian packages (${#missing[@]} missing: ${missing[*]:0:4}$( ((${#missing[@]} <= 4)) || echo ' ...'))" \
    "$root/build/logs/packages.log" apt_install "${missing[@]}" || exit 3
}

apt_install() {
  local run=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C)
  "${run[@]}" dpkg --configure -a  # finishes what an interrupted installation left
  # A source that does not answer is no reason to stop: the packages may come from the others.
  "${run[@]}" apt-get update -o DPkg::Lock::Timeout=300 || true
  "${run[@]}" apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}
