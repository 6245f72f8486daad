// Python with dipc. Messages: {kind: "mistakes" | "ask", number, …}; each is answered by events and {kind: "done"}.
import { loadPyodide } from "./pyodide/pyodide.mjs";

let calls = null;
const begun = performance.now();

// Files are counted as they come, so that loading shows how far it is.
async function counted(sizes) {
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  const plain = self.fetch.bind(self);
  let loaded = 0;
  self.fetch = async (input, options) => {
    const response = await plain(input, options);
    if (!response.ok || !response.body) { return response; }
    const counter = new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.byteLength;
        postMessage({ kind: "loading", part: Math.min(1, loaded / total), what: "Loading Python and dipc" });
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(counter), response);
  };
}

async function start() {
  await counted(await (await fetch("sizes.json")).json());
  const packages = fetch("packages.zip").then((response) => response.arrayBuffer());
  const pyodide = await loadPyodide({ indexURL: new URL("pyodide/", self.location.href).href });
  pyodide.unpackArchive(await packages, "zip", { extractDir: "/packages" });
  postMessage({ kind: "loading", part: 1, what: "Starting dipc" });
  const [version, ...functions] = pyodide.runPython(`
import os, sys
sys.path.insert(0, "/packages")
sys.set_int_max_str_digits(0)
os.makedirs("/work", exist_ok=True)
os.chdir("/work")
os.environ["COLUMNS"] = "80"
from dipc.playground import answer, mistakes
import dipc, dipc.outcome.html, dipc.questions.question, dipc.program.program, flint
(dipc.__version__, answer, lambda text, definitions, eps: mistakes(text, definitions.to_py(), eps))
`).toJs({ depth: 1 });
  calls = functions;
  postMessage({ kind: "ready", version, seconds: (performance.now() - begun) / 1000 });
}

const started = start().catch((error) => postMessage({ kind: "broken", text: String(error) }));

self.onmessage = async ({ data }) => {
  await started;
  const { number } = data;
  const [answer, mistakes] = calls;
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  try {
    if (data.kind === "mistakes") {
      postMessage({ kind: "mistakes", number, mistakes: JSON.parse(mistakes(data.text, data.definitions, data.eps ?? undefined)) });
    } else {
      answer(JSON.stringify(data.question), (event) => postMessage({ ...JSON.parse(event), number, seconds: seconds() }));
    }
  } catch (error) {
    postMessage({ kind: "answer", number, code: 70, text: "", errors: `internal error: ${error}\n`, seconds: seconds() });
  }
  postMessage({ kind: "done", number });
};
