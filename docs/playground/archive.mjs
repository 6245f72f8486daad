// The packages as one file of compiled modules, and the names that it has them under: archive.mjs OUT WHEEL...
// They are compiled by the very Python that will run them, in Node.
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";

const [out, ...wheels] = process.argv.slice(2);

async function compiled() {
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
        {"test", "tests"} & {*path.relative_to(place).parts[:-1]} or path.suffix in {".pyi", ".pxd", ".pyx", ".h", ".typed"}
    ):
        path.unlink()

# Modules without their sources stand where the sources did.
assert compileall.compile_dir(place, quiet=1, legacy=True, optimize=0, stripdir=str(place)), "some module does not compile"
for path in sorted(place.rglob("*.py")):
    path.unlink()
`);
  const names = pyodide.runPython(`[str(path) for path in sorted(place.rglob("*")) if path.is_file()]`).toJs();
  return names.map((path) => ({ path, bytes: pyodide.FS.readFile(path).slice() }));
}

const files = await compiled();
await writeFile(join(out, "packages.gz"), gzipSync(Buffer.concat(files.map(({ bytes }) => bytes)), { level: 9 }));
await writeFile(join(out, "packages.json"), JSON.stringify(files.map(({ path, bytes }) => [path, bytes.length])));
