// The editor: a text with its mistakes underlined.
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { dipwhile } from "./language.js";

const theme = EditorView.theme({
  "&": { color: "var(--fg)", backgroundColor: "var(--box)", fontSize: ".86rem" },
  "&.cm-focused": { outline: "2px solid var(--pr)", outlineOffset: "-1px" },
  ".cm-content": { caretColor: "var(--fg)", fontFamily: "var(--mono)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-cursor": { borderLeftColor: "var(--fg)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--line-now)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--chosen)" },
  ".cm-tooltip": { backgroundColor: "var(--bg)", color: "var(--fg)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--chosen)", color: "var(--fg)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--chosen)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-lint-marker-error": { content: "none", width: ".5em", height: ".5em", borderRadius: "50%", background: "var(--bad)", margin: ".5em .25em" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)", maxWidth: "28rem" },
});

export function makeEditor(parent, changed) {
  const extensions = [
    lineNumbers(), history(), drawSelection(), highlightActiveLine(), indentOnInput(), bracketMatching(), closeBrackets(),
    lintGutter(), dipwhile, theme,
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": "program", spellcheck: "false", autocapitalize: "off" }),
    EditorView.updateListener.of((update) => { if (update.docChanged) { changed(); } }),
  ];
  const view = new EditorView({ parent, state: EditorState.create({ extensions }) });
  return {
    text: () => view.state.doc.toString(),
    show(text) { view.setState(EditorState.create({ doc: text, extensions })); view.scrollDOM.scrollTop = 0; changed(); },
    mark(mistakes) {
      const length = view.state.doc.length;
      const found = mistakes.map((each) => ({
        from: Math.min(each.from, length),
        to: Math.min(each.to, length),
        severity: "error",
        source: each.code,
        message: [each.message, ...each.notes.map((note) => `help: ${note}`)].join("\n"),
      }));
      view.dispatch(setDiagnostics(view.state, found));
    },
    lineOf: (offset) => view.state.doc.lineAt(Math.min(offset, view.state.doc.length)).number,
    goTo(offset) {
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
  };
}
