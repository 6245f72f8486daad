// Python with dipc, from its files or from the memory of an earlier start. The libraries are linked before anything else
// happens, so that both times each is at the same place of the memory and of the table of functions.

const PAGE = 65536; // bytes of WebAssembly's memory that are kept together, or are all 0

const isLibrary = ({ path }) => path.endsWith(".so");
const needed = ["libgmp", "libmpfr", "libflint"]; // each needs those before it, and all others need them
const rank = ({ path }) => (needed.findIndex((name) => path.includes(`/${name}`)) + needed.length + 1) % (needed.length + 1);

// `files` is a list of {path, bytes}; `kept` is what `remember` returned, or null. `begin` is Python that imports what is
// wanted: it is run where nothing is kept, after `importing` was called. `starting` is called when all is fetched.
export async function startPython({ loadPyodide, createModule, indexURL, files, kept, begin, starting, importing }) {
  const libraries = files.filter(isLibrary).sort((a, b) => rank(a) - rank(b));
  let module = null;
  let failure = null;
  const createPyodideModule = (settings) => {
    module = settings;
    const before = settings.onRuntimeInitialized;
    settings.onRuntimeInitialized = () => {
      before?.();
      starting();
      try {
        link(module, libraries);
        if (kept) { makeRoom(module, kept); }
      } catch (error) { failure = error; } // whoever calls this heeds no error
    };
    return createModule(settings);
  };
  const memory = kept ? { _loadSnapshot: kept.memory } : { _makeSnapshot: true };
  const pyodide = await loadPyodide({ indexURL, createPyodideModule, env: { HOME: "/home/pyodide" }, ...memory })
    .catch((error) => { throw failure ?? error; });
  if (failure) { throw failure; }
  for (const file of files) {
    if (kept && isLibrary(file)) { continue; } // they are loaded, and nobody looks for them again
    pyodide.FS.mkdirTree(file.path.slice(0, file.path.lastIndexOf("/")));
    pyodide.FS.writeFile(file.path, file.bytes, { canOwn: true });
  }
  importing();
  if (!kept) { pyodide.runPython(begin); }
  return { pyodide, remember: () => remembered(pyodide, module) };
}

function link(module, libraries) {
  libraries.forEach(({ path, bytes }, at) => {
    const global = path.includes(".libs/");
    // What is still undefined is looked for once, with the last of them.
    const flags = { global, nodelete: true, allowUndefined: at < libraries.length - 1 };
    const exports = module.loadWebAssemblyModule(new WebAssembly.Module(bytes), flags, path, global ? {} : undefined);
    const library = { refcount: Infinity, name: path, exports, global };
    for (const name of [path, path.split("/").pop()]) { module.LDSO.loadedLibsByName[name] = library; }
    if (global) { module.mergeLibSymbols(exports, path); }
  });
}

// Room for the memory that is kept; Python finds its libraries by the handles that it knows.
function makeRoom(module, { memory, handles, functions }) {
  if (module.wasmTable.length !== functions) { throw new Error("the functions are not where they were"); }
  module.growMemory(memory.length);
  for (const [handle, name] of handles) { module.LDSO.loadedLibsByHandle[handle] = module.LDSO.loadedLibsByName[name]; }
}

// The memory, before anything was asked, with what has to be known besides.
function remembered(pyodide, module) {
  const handles = Object.entries(module.LDSO.loadedLibsByHandle).filter(([, { name }]) => name.startsWith("/"))
    .map(([handle, { name }]) => [Number(handle), name]);
  return { memory: pyodide.makeMemorySnapshot(), handles, functions: module.wasmTable.length };
}

// --- to keep it, and to read it again; most of the memory is 0 ---

export function written({ memory, ...others }) {
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, memory.byteLength >> 3);
  const pages = [];
  for (let at = 0; at * PAGE < memory.length; at += 1) {
    if (words.subarray(at * PAGE >> 3, (at + 1) * PAGE >> 3).some((word) => word)) { pages.push(at); }
  }
  const said = new TextEncoder().encode(JSON.stringify({ ...others, size: memory.length, pages }));
  return new Blob([new Uint32Array([said.length]), said, ...pages.map((at) => memory.subarray(at * PAGE, (at + 1) * PAGE))]);
}

export function read(buffer) {
  const [length] = new Uint32Array(buffer, 0, 1);
  const { size, pages, ...others } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const memory = new Uint8Array(size);
  pages.forEach((page, at) => { memory.set(new Uint8Array(buffer, 4 + length + at * PAGE, Math.min(PAGE, size - page * PAGE)), page * PAGE); });
  return { memory, ...others };
}

// The files of a pack: their names and sizes in order, and all bytes one after the other.
export function unpacked(names, bytes) {
  let at = 0;
  return names.map(([path, size]) => {
    at += size;
    return { path, bytes: bytes.subarray(at - size, at) };
  });
}
