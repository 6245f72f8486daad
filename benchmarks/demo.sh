#!/bin/sh
# One proof and one counterexample: the tightest factors that the paper reports for Sparse, three queries, one answer.
# Usage: demo.sh DIPC (the command to run). Fails unless the first claim is proved and the second refuted.
set -u
dipc=${1:-dipc}
here=$(dirname "$0")

run() { # expected exit code, beta
  printf '\n$ dipc check %s/sparse.dip %s/sparse.csv --beta "%s"\n\n' "$here" "$here" "$2"
  "$dipc" check "$here/sparse.dip" "$here/sparse.csv" --beta "$2"
  code=$?
  if [ "$code" -ne "$1" ]; then
    printf '\ndemo: exit code %d, expected %d\n' "$code" "$1" >&2
    exit 1
  fi
}

echo 'Is Sparse (the sparse vector technique) right with probability at least 1 - beta, for every eps > 0?'
echo 'Dwork and Roth (2014) prove beta = 2mc*exp(-alpha*eps/(8c)). A sixth of that still holds:'
run 0 '2*m*c*exp(-alpha*eps/(8*c))/6'
echo
echo 'A seventh does not, and here is an eps to show it (exit code 1 means refuted):'
run 1 '2*m*c*exp(-alpha*eps/(8*c))/7'

case $dipc in
  .venv/*) printf '\nTo go on: . .venv/bin/activate && dipc --help (or call %s)\n' "$dipc" ;;
esac
