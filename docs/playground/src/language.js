// The language in the editor: words and signs are those of the grammar's terminals.
import { autocompletion, completeFromList } from "@codemirror/autocomplete";
import { HighlightStyle, LanguageSupport, StreamLanguage, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import words from "../build/words.json";

const kinds = new Map();
for (const [names, kind] of [
  [words.keywords, "keyword"],
  [words.types, "typeName"],
  [words.distributions, "function"],
  [words.functions, "function"],
  [words.constants, "atom"],
  [words.operators, "operatorKeyword"],
]) {
  for (const name of names) { kinds.set(name, kind); }
}

const escaped = words.signs.map((sign) => sign.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
const number = new RegExp(`^(?:${words.number})`, "u");
const name = new RegExp(`^(?:ε|(?:${words.name})'?)`, "u");
const sign = new RegExp(`^(?:${escaped.join("|")})`, "u");
const brackets = "()[]{},;:";

const opens = /(?:\b(?:then|else|do)\b|\{)\s*(?:#.*)?$/;
const closes = /^\s*(?:end\b|else\b|\})/;

const stream = StreamLanguage.define({
  name: "dipwhile",
  tokenTable: { function: tags.standard(tags.name), atom: tags.atom, sign: tags.operator },
  token(source) {
    if (source.eatSpace()) { return null; }
    if (source.match(/^#.*/)) { return "comment"; }
    if (source.match(number)) { return "number"; }
    const word = source.match(name);
    if (word) { return kinds.get(word[0]) ?? "variableName"; }
    const found = source.match(sign);
    if (found) { return brackets.includes(found[0]) ? "punctuation" : "sign"; }
    source.next();
    return "invalid";
  },
  indent(_state, after, context) {
    const before = context.lineAt(context.pos, -1);
    let text = "";
    for (let at = before.from; at > 0 && !text.trim(); ) {
      const line = context.state.doc.lineAt(at - 1);
      text = line.text;
      at = line.from;
    }
    const deep = /^\s*/.exec(text)[0].length + (opens.test(text) ? context.unit : 0);
    return Math.max(0, deep - (closes.test(after) ? context.unit : 0));
  },
  languageData: {
    commentTokens: { line: "#" },
    closeBrackets: { brackets: ["(", "[", "{"] },
    indentOnInput: /^\s*(?:end|else|\})$/,
  },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--word)", fontWeight: "600" },
  { tag: tags.operatorKeyword, color: "var(--word)" },
  { tag: tags.typeName, color: "var(--type)" },
  { tag: tags.standard(tags.name), color: "var(--noise)" },
  { tag: [tags.atom, tags.number], color: "var(--number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.operator, color: "var(--soft)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const known = completeFromList([...kinds].map(([label, kind]) => ({ label, type: kind === "function" ? kind : "keyword" })));

// Names of the program; comments have other words.
function names(context) {
  const before = context.matchBefore(/[\p{L}_][\p{L}\p{N}_]*/u);
  if (!before || kinds.has(before.text)) { return null; }
  const text = context.state.doc.toString().replace(/#.*/g, "");
  const found = new Set(Array.from(text.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu), ([word]) => word));
  found.delete(before.text);
  return { from: before.from, options: [...found].filter((word) => !kinds.has(word)).map((label) => ({ label, type: "variable" })) };
}

export const dipwhile = [
  new LanguageSupport(stream),
  syntaxHighlighting(colors),
  indentUnit.of("  "),
  autocompletion({ override: [known, names], icons: false }),
];
