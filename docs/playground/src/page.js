// The page: what was typed is looked through at once, and asked when it has no mistakes.
import gallery from "../build/gallery.json";
import { showAnswer, showNothing, showPage } from "./answer.js";
import { COMMANDS, makeClaim, quoted } from "./claim.js";
import { makeEditor } from "./editor.js";
import { Engine } from "./engine.js";
import { fromFragment, toFragment } from "./link.js";

const PATIENCE = 250; // milliseconds without a key before anything is asked
const LAST = 2500; // milliseconds that a question has left once another program was chosen
const element = (id) => document.getElementById(id);
let timer = 0;
let tick = 0;
let setting = false; // while the fields are being filled

// --- the question ---

const editor = makeEditor(element("editor"), changed);
const claim = makeClaim(element("fields"), changed);
let tableName = "table.csv";

function question() {
  const rows = element("rows").value;
  return {
    command: element("command").value,
    program: { name: element("name").value.trim() || "program.dip", text: editor.text() },
    table: rows.trim() && claim.takesTable() ? { name: tableName, text: rows } : null,
    options: claim.options(),
  };
}

function show({ command, program, table, options }) {
  setting = true;
  element("command").value = command in COMMANDS ? command : "check";
  chooseCommand();
  claim.forget();
  claim.show(options);
  element("name").value = program.name;
  tableName = table?.name ?? program.name.replace(/(\.dip)?$/, ".csv");
  element("rows").value = table?.text ?? "";
  element("table").open = false;
  const { about, text } = described(program.text);
  element("about").textContent = about;
  element("about").hidden = !about;
  element("about").classList.remove("whole");
  editor.show(text);
  setting = false;
  showNothing();
  ask();
  engine.hurry(LAST);
}

// The comment that opens a program says what it is: it stands beside the program, not above it.
function described(text) {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#"));
  if (end <= 0) { return { about: "", text }; }
  return { about: lines.slice(0, end).map((line) => line.replace(/^#+ ?/, "")).join(" "), text: lines.slice(end).join("\n") };
}

function chooseCommand() {
  claim.choose(element("command").value);
  element("table").hidden = !claim.takesTable();
}

// Whoever chooses a question finds the fields that it needs filled.
function needed() {
  const { command, program } = question();
  const message = { kind: "form", command, text: program.text, definitions: definitions(), eps: claim.value("--eps") };
  engine.send(message, (event) => {
    if (event.kind !== "form" || element("command").value !== command) { return; }
    if (question().table) { delete event.fields["--inputs"]; } // a table has its own inputs
    claim.complete(event.fields);
    changed();
  });
}

function definitions() {
  const given = claim.value("-D");
  return given ? [given] : [];
}

function words({ command, program, table, options }) {
  return ["dipc", command, program.name, ...(table ? [table.name] : []), ...options].map(quoted);
}

function changed() {
  if (setting) { return; }
  clearTimeout(timer);
  timer = setTimeout(element("live").checked ? ask : look, PATIENCE);
}

// --- asking ---

const engine = new Engine(told);

function told(event) {
  const loading = element("loading");
  if (event.kind === "ready") {
    loading.hidden = true;
    element("version").textContent = event.version;
    document.body.dataset.ready = event.seconds.toFixed(2);
    document.body.dataset.from = event.from;
    return;
  }
  loading.hidden = false;
  if (event.kind === "broken") { element("doing").textContent = `Python did not start: ${event.text}`; return; }
  element("doing").textContent = event.what;
  element("progress").value = event.part;
}

// Look for mistakes, and show them; `then` is called where there are none.
function look(then = () => {}) {
  const asked = question();
  element("words").replaceChildren(...words(asked).flatMap((word) => [Object.assign(document.createElement("span"), { textContent: word }), " "]));
  toFragment(asked).then((fragment) => history.replaceState(null, "", fragment));
  const message = { kind: "mistakes", text: asked.program.text, definitions: definitions(), eps: claim.value("--eps") };
  engine.send(message, (event) => {
    if (event.kind === "answer") { showAnswer(event, "mistakes"); } // a defect of the page, which says so
    if (event.kind !== "mistakes" || editor.text() !== asked.program.text) { return; }
    editor.mark(event.mistakes);
    list(event.mistakes);
    if (event.mistakes.length === 0) { then(asked); }
  });
}

function list(mistakes) {
  const lines = [...new Set(mistakes.map((each) => editor.lineOf(each.from)))];
  const shown = lines.length > 3 ? `${lines.slice(0, 3).join(", ")}, …` : lines.join(", ");
  element("unasked").hidden = lines.length === 0;
  element("why").textContent = `Not asked: ${lines.length === 1 ? `line ${shown} has a mistake` : `lines ${shown} have mistakes`}`;
  document.querySelector(".answer").classList.toggle("old", lines.length > 0);
  element("mistakes").replaceChildren(...mistakes.map((each) => {
    const item = document.createElement("li");
    const place = document.createElement("button");
    place.type = "button";
    place.textContent = `line ${editor.lineOf(each.from)}`;
    place.addEventListener("click", () => editor.goTo(each.from));
    const note = each.notes[0] ? `; ${each.notes[0].split("\n")[0]}` : "";
    item.append(place, ` ${each.message}${note} (${each.code})`);
    return item;
  }));
}

function ask() {
  engine.forget("ask");
  look((asked) => {
    engine.forget("draw");
    engine.send({ kind: "ask", question: asked }, (event) => {
      if (event.kind === "progress") { waiting(event); }
      if (event.kind === "answer") { showAnswer(event, `${asked.command} ${asked.program.name}`); waiting(null); }
      if (event.kind === "answer" && event.page) { draw(); }
      if (event.kind === "done") { busy(false); }
    });
    busy(true);
  });
}

// The report comes after the answer, and after whatever was asked meanwhile.
function draw() {
  engine.send({ kind: "draw" }, (event) => {
    if (event.kind === "page") { showPage(event.html); }
    if (event.kind === "answer") { showAnswer(event, "report"); } // a defect of the page, which says so
  });
}

let begun = 0;
let counted = "";

function busy(is) {
  clearInterval(tick);
  counted = "";
  element("status").textContent = "";
  if (!is) { element("stop").hidden = !engine.busy; return; }
  begun = performance.now();
  tick = setInterval(() => { element("stop").hidden = false; waiting({}); }, 500);
}

function waiting(event) {
  if (event === null) { clearInterval(tick); element("status").textContent = ""; return; }
  if (event.done) { counted = `, ${event.done}${event.total ? ` of ${event.total}` : ""} done`; }
  const seconds = (performance.now() - begun) / 1000;
  if (seconds > 0.4) { element("status").textContent = `Working for ${seconds.toFixed(0)} s${counted}`; }
}

function stop() {
  engine.stop();
  busy(false);
  element("stop").hidden = true;
  element("status").textContent = "Stopped; nothing was decided.";
}

// --- what people do ---

element("command").addEventListener("change", () => { chooseCommand(); needed(); changed(); });
for (const id of ["rows", "name"]) { element(id).addEventListener("input", changed); }
element("claim").addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); ask(); });
element("stop").addEventListener("click", () => { stop(); element("live").checked = false; });
element("about").addEventListener("click", () => element("about").classList.toggle("whole"));
element("live").addEventListener("change", changed);
element("link").addEventListener("click", async () => {
  const fragment = await toFragment(question());
  history.replaceState(null, "", fragment);
  let said = "The address of this page is the link.";
  try {
    await navigator.clipboard.writeText(location.href);
    said = "Copied.";
  } catch { /* no permission: the address bar has it */ }
  element("copied").textContent = said;
  setTimeout(() => { element("copied").textContent = ""; }, 4000);
});

function fillGallery() {
  const groups = new Map();
  gallery.entries.forEach((entry, at) => {
    if (!groups.has(entry.group)) {
      const group = document.createElement("optgroup");
      group.label = entry.group;
      groups.set(entry.group, group);
    }
    groups.get(entry.group).append(new Option(entry.title, String(at)));
  });
  const first = new Option("choose a mechanism", "");
  first.disabled = true;
  element("gallery").append(first, ...groups.values());
  element("gallery").addEventListener("change", () => { show(meant(gallery.entries[+element("gallery").value])); });
}

function meant(entry) {
  return {
    command: entry.command,
    program: { name: entry.program, text: gallery.programs[entry.program] },
    table: entry.table === null ? null : { name: entry.table, text: gallery.tables[entry.table] },
    options: entry.options,
  };
}

async function follow() {
  const linked = await fromFragment(location.hash);
  if (linked) { element("gallery").value = ""; show(linked); return; }
  const at = gallery.entries.findIndex((entry) => entry.program === "docs/programs/busy.dip");
  element("gallery").value = String(at);
  show(meant(gallery.entries[at]));
}

fillGallery();
window.addEventListener("hashchange", follow);
follow();
