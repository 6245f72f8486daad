// The packages as one archive of compiled modules: archive.mjs OUT.zip WHEEL...
// They are compiled by the very Python that will run them, in Node.
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { loadPyodide } from "pyodide";

const [out, ...wheels] = process.argv.slice(2);
const pyodide = await loadPyodide();
for (const wheel of wheels) { pyodide.FS.writeFile(`/tmp/${basename(wheel)}`, await readFile(wheel)); }
pyodide.runPython(`
import compileall, pathlib, zipfile

place = pathlib.Path("/packages")
for wheel in sorted(pathlib.Path("/tmp").glob("*.whl")):
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(place)

# Tests, and what only compilers and type checkers read.
for path in sorted(place.rglob("*")):
    if path.is_file() and (
        "tests" in path.relative_to(place).parts[:-1] or path.suffix in {".pyi", ".pxd", ".pyx", ".h", ".typed"}
    ):
        path.unlink()

# Modules without their sources stand where the sources did.
assert compileall.compile_dir(place, quiet=1, legacy=True, optimize=0, stripdir=str(place)), "some module does not compile"
for path in sorted(place.rglob("*.py")):
    path.unlink()

with zipfile.ZipFile("/tmp/packages.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for path in sorted(place.rglob("*")):
        if path.is_file():
            entry = zipfile.ZipInfo(str(path.relative_to(place)))
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes())
print(sum(path.stat().st_size for path in place.rglob("*") if path.is_file()), "bytes unpacked")
`);
await writeFile(out, pyodide.FS.readFile("/tmp/packages.zip"));
