// Python with dipc. Messages: {kind: "form" | "mistakes" | "ask" | "draw", number, …}; each is answered by events and
// {kind: "done"}. "draw" draws the report of the question that was asked last.
import createModule from "./pyodide/pyodide.asm.mjs";
import { loadPyodide } from "./pyodide/pyodide.mjs";
import { read, startPython, unpacked, written } from "./start.js";

const MEMORY = "memory"; // the name of the memory of Python that has imported dipc, among what the browser keeps
const BEGIN = `
import json, os, sys
sys.path.insert(0, "/packages")
sys.set_int_max_str_digits(0)
os.environ["COLUMNS"] = "80"
os.makedirs("/work", exist_ok=True)
os.chdir("/work")
from dipc.playground import answer, form, mistakes
import dipc, flint
# What the first question loads, the next finds.
_first = "input x : real; output b : bool; var r : real; r <- Lap(eps, x); b <- r >= 0; ideal { b <- x >= 0 } claim { beta: 1; }"
mistakes(_first)
answer(json.dumps({"command": "check", "program": {"name": "b.dip", "text": _first}, "table": None, "options": ["--inputs", "x = 1"]}), len)
import gc
gc.collect()
`;

let calls = null;
let draw = null; // what draws the report of the last answer
const begun = performance.now();
const plain = self.fetch.bind(self);

// What the browser keeps for this version of the page: its files, and the memory of Python. Null, where it keeps nothing.
async function shelf(version) {
  try {
    const name = `dipc-${version}`;
    const opened = await caches.open(name);
    for (const other of await caches.keys()) {
      if (other.startsWith("dipc-") && other !== name) { await caches.delete(other); }
    }
    return opened;
  } catch { return null; }
}

// Files come from the shelf or are put there, and are counted as they come, so that loading shows how far it is.
function counted(sizes, kept) {
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  const megabytes = (size) => (size / 1e6).toFixed(0);
  let loaded = 0;
  let fetched = false;
  self.fetch = async (input, options) => {
    const known = await kept?.match(input);
    const response = known ?? await plain(input, options);
    if (!response.ok || !response.body) { return response; }
    if (!known) {
      fetched = true;
      kept?.put(input, response.clone()).catch(() => {}); // there is no room: the next time it is fetched again
    }
    const counter = new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.byteLength;
        const what = fetched ? `fetching Python and dipc, once: ${megabytes(loaded)} of ${megabytes(total)} MB` : "reading Python and dipc";
        step(1, what, Math.min(1, loaded / total));
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counter), response);
  };
}

// The steps of loading: 1 takes most of the time on a slow line, 2 and 3 on a slow machine.
const UNTIL = [0, 0.5, 0.8, 1]; // the part of the bar that is filled after each
function step(number, what, part = 0) {
  postMessage({ kind: "loading", part: UNTIL[number - 1] + part * (UNTIL[number] - UNTIL[number - 1]), what: `Step ${number} of 3: ${what}` });
}

async function inflated(name) {
  const response = await self.fetch(name);
  if (!response.ok) { throw new Error(`${name}: ${response.status}`); }
  return new Uint8Array(await new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

async function start() {
  const { version, sizes, names } = await (await plain("start.json")).json();
  const kept = await shelf(version);
  counted(sizes, kept);
  const before = kept?.match(MEMORY).then((response) => response?.arrayBuffer()).then((buffer) => buffer && read(buffer)).catch(() => null);
  const files = unpacked(names, await inflated("packages.gz"));
  const given = { loadPyodide, createModule, indexURL: new URL("pyodide/", self.location.href).href, files, begin: BEGIN, starting: () => step(2, "starting Python"), importing: () => step(3, "importing dipc") };
  const { pyodide, remember } = await begin(given, await before, kept);
  const memory = remember && kept && remember();
  const [dipc, ...functions] = pyodide.runPython(`
os.makedirs("/work", exist_ok=True)
os.chdir("/work")
(
    dipc.__version__,
    answer,
    lambda text, definitions, eps: mistakes(text, definitions.to_py(), eps),
    lambda command, text, definitions, eps: form(command, text, definitions.to_py(), eps),
)
`).toJs({ depth: 1 });
  calls = functions;
  postMessage({ kind: "ready", version: dipc, seconds: (performance.now() - begun) / 1000, from: remember ? "files" : "memory" });
  if (memory) { await kept.put(MEMORY, new Response(written(memory))).catch(() => {}); }
}

// Where Python does not begin with what was kept, it begins anew.
async function begin(given, before, kept) {
  if (before) {
    try {
      return { pyodide: (await startPython({ ...given, kept: before })).pyodide, remember: null };
    } catch { await kept.delete(MEMORY); }
  }
  return startPython({ ...given, kept: null });
}

const started = start().catch((error) => postMessage({ kind: "broken", text: String(error) }));

self.onmessage = async ({ data }) => {
  await started;
  const { number } = data;
  const [answer, mistakes, form] = calls;
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  try {
    if (data.kind === "mistakes") {
      postMessage({ kind: "mistakes", number, mistakes: JSON.parse(mistakes(data.text, data.definitions, data.eps ?? undefined)) });
    } else if (data.kind === "form") {
      postMessage({ kind: "form", number, fields: JSON.parse(form(data.command, data.text, data.definitions, data.eps ?? undefined)) });
    } else if (data.kind === "draw") {
      if (draw) { postMessage({ kind: "page", number, html: draw() }); }
    } else {
      draw?.destroy();
      draw = answer(JSON.stringify(data.question), (event) => postMessage({ ...JSON.parse(event), number, seconds: seconds() })) ?? null;
    }
  } catch (error) {
    postMessage({ kind: "answer", number, code: 70, text: "", errors: `internal error: ${error}\n`, seconds: seconds() });
  }
  postMessage({ kind: "done", number });
};
