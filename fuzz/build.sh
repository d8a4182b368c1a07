#!/bin/bash -eu
# Builds the programs that fuzz wholecall: what OSS-Fuzz and ClusterFuzzLite run in their image, and anybody by hand.
#
#   SRC   where the checkout is, in a folder wholecall (theirs); else the checkout that this file is in
#   OUT   where the programs go, with their seeds and dictionaries (theirs); else .fuzz/out of the checkout
#   PYTHON   the interpreter to build and run with: python3 unless it is said
#
# By hand the interpreter needs wholecall with the extras test and fuzz. A program is a few lines of shell there, which
# start the interpreter in the checkout; in their image it is packed by PyInstaller, and nothing else is needed.
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
export OUT=${OUT:-$project/.fuzz/out}
mkdir -p "$OUT"

if type compile_python_fuzzer >/dev/null 2>&1; then
    "$python" -m pip install --require-hashes --requirement "$project/.ci/pins/test.txt"
    "$python" -m pip install --no-deps "$project"
else
    compile_python_fuzzer() {
        local program
        program=$OUT/$(basename -s .py "$1")
        printf '#!/bin/sh\n# LLVMFuzzerTestOneInput\ncd %q\nPYTHONPATH=%q exec %q %q "$@"\n' \
            "$PWD" "$project" "$(type -P "$python")" "$1" >"$program"
        chmod +x "$program"
    }
fi

cd "$project"
scripts=$OUT/scripts
[ -z "${SRC:-}" ] || scripts=$SRC/scripts
"$python" -m tests.fuzz.build "$scripts" "$OUT"
for script in "$scripts"/fuzz_*.py; do
    # Dialects are imported by name, and the damaged recordings are read where they lie.
    compile_python_fuzzer "$script" --paths "$project" --collect-submodules wholecall --hidden-import tests.fuzz.targets \
        --add-data "$project/corpora:corpora" --add-data "$project/fuzz/wire.dict:fuzz"
done
