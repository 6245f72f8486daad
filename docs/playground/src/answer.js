// The answer: the verdict with the text that the command prints, then the report with its plot.
import { drawPlot } from "report:plot";

const element = (id) => document.getElementById(id);
const MOODS = { 0: "good", 1: "bad", 3: "open" };

function choose(name) {
  for (const each of ["report", "text"]) {
    element(each).hidden = each !== name;
    element(`show-${each}`).setAttribute("aria-selected", String(each === name));
  }
  if (name === "report") { window.dispatchEvent(new Event("resize")); } // a plot that was hidden had no width
}

let wanted = "report";
for (const each of ["report", "text"]) {
  element(`show-${each}`).addEventListener("click", () => { wanted = each; choose(each); });
}

export function showAnswer(event, asked) {
  const { code, text, errors, page, seconds } = event;
  const [first, ...others] = (text || errors).split("\n");
  const broken = others.findIndex((line) => !/^ {2}\S/.test(line));
  const line = [first, ...others.slice(0, Math.max(0, broken)).map((part) => part.trim())].join(" ");
  const plain = code === 0 && asked.startsWith("prob"); // an answer that is no verdict
  element("verdict").className = plain ? "" : MOODS[code] ?? "bad";
  element("verdict").hidden = false;
  element("asked").textContent = asked;
  const said = errors.split("\n")[0].replace(/^(?:error(?:\[\w+\])?|internal error): /, "");
  element("line").textContent = text || !said ? line : `No answer: ${said}`;
  element("text").textContent = text + (text && errors ? "\n" : "") + errors;
  element("took").textContent = `${seconds < 1 ? Math.max(1, Math.round(seconds * 1000)) + " ms" : seconds.toFixed(1) + " s"}`;
  document.querySelector(".tabs").hidden = false;
  const report = element("report");
  report.classList.add("old");
  if (code === 2 || code === 70 || !text) { report.replaceChildren(); choose("text"); return; }
  if (page && !report.hasChildNodes()) {
    report.classList.remove("old");
    report.replaceChildren(Object.assign(document.createElement("p"), { className: "drawing", textContent: "Drawing the report …" }));
  }
}

export function showPage(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  // The program is in the editor, and how the question is asked below it.
  const other = (part) => /^(Evidence|Program)$/.test(part.querySelector("h2").textContent);
  const parts = [...page.querySelectorAll("main > section")].filter((part) => !other(part));
  const report = element("report");
  const open = new Set([...report.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const which = report.querySelector("#which")?.selectedOptions[0]?.textContent;
  report.replaceChildren(...parts.map((part) => document.importNode(part, true)));
  report.classList.remove("old");
  for (const part of report.querySelectorAll("details")) { part.open = open.has(part.querySelector("summary").textContent); }
  const select = report.querySelector("#which");
  if (select && which) { select.selectedIndex = Math.max(0, [...select.options].findIndex((each) => each.textContent === which)); }
  choose(wanted);
  if (report.querySelector("#curves")) { drawPlot(); }
}

export function showNothing() {
  element("line").textContent = "";
  element("verdict").hidden = true;
  document.querySelector(".tabs").hidden = true;
  element("report").replaceChildren();
  element("text").hidden = true;
}
