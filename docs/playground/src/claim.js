// The question as fields, and as the words of a command. What was typed in a field is kept for each question; the constants and
// eps, which are the program's, for all of them.
const FIELDS = {
  "--beta": ["beta", "2*m*exp(-alpha*eps/8)"],
  "--inputs": ["inputs", "q = -1..1, or all"],
  "-D": ["constants", "m = 3, c = 1"],
  "--alpha": ["alpha", "dd, or 1"],
  "--gamma": ["gamma", "0, or free"],
  "--eps": ["eps", "(0, inf)"],
  "--adjacent": ["adjacent", "linf:1, l1:1 or hamming:1"],
  "--budget": ["budget", "eps"],
  "--delta": ["delta", "0"],
  "--input": ["input", "q = (-1, 0, 1)"],
  "--for": ["for", "eps, alpha, beta or gamma"],
};
const ACCURACY = ["--beta", "--inputs", "-D", "--alpha", "--gamma", "--eps"];

export const COMMANDS = {
  check: { fields: ACCURACY, table: true, group: "accuracy" },
  privacy: { fields: ["--adjacent", "--inputs", "-D", "--budget", "--delta", "--eps"], table: false, group: "privacy" },
  tighten: { fields: ACCURACY, table: true, group: "accuracy" },
  solve: { fields: [...ACCURACY, "--for"], table: true, group: "accuracy" },
  prob: { fields: ["--input", "-D", "--eps"], table: false, group: "prob" },
};
const OF_THE_PROGRAM = new Set(["-D", "--eps"]);

export function makeClaim(host, changed) {
  let command = null;
  const inputs = new Map();
  const typed = new Map(); // what the fields held, by group of questions and option
  const key = (flag) => (OF_THE_PROGRAM.has(flag) ? flag : `${COMMANDS[command].group} ${flag}`);
  const more = document.createElement("input");

  function field(label, hint, input, long) {
    const around = document.createElement("label");
    around.textContent = label;
    input.placeholder = hint;
    input.spellcheck = false;
    input.autocomplete = "off";
    input.addEventListener("input", changed);
    around.append(input);
    around.classList.toggle("long", long);
    return around;
  }

  return {
    // The fields of the command, with what they held when it was last asked.
    choose(name) {
      for (const [flag, input] of inputs) { typed.set(key(flag), input.value); }
      if (command) { typed.set(`${COMMANDS[command].group} more`, more.value); }
      inputs.clear();
      command = name;
      more.value = typed.get(`${COMMANDS[command].group} more`) ?? "";
      const beside = COMMANDS[name].fields.filter((flag) => flag !== "--beta").length % 2 === 1;
      host.replaceChildren(
        ...COMMANDS[name].fields.map((flag) => {
          const input = document.createElement("input");
          input.value = typed.get(key(flag)) ?? "";
          inputs.set(flag, input);
          return field(...FIELDS[flag], input, flag === "--beta");
        }),
        field("more", "--for-all \"m >= 3\" --digits 12", more, !beside),
      );
    },
    // Fill the fields that are empty and may not be.
    complete(needed) {
      for (const [flag, value] of Object.entries(needed)) {
        const input = inputs.get(flag);
        if (input && !input.value.trim()) { input.value = value; }
      }
    },
    forget() {
      typed.clear();
      more.value = "";
      for (const input of inputs.values()) { input.value = ""; }
    },
    show(options) {
      const others = [];
      for (let at = 0; at < options.length; at += 1) {
        const input = inputs.get(options[at]);
        if (!input || at + 1 === options.length) { others.push(quoted(options[at])); continue; }
        at += 1;
        input.value = input.value && options[at - 1] === "-D" ? `${input.value}, ${options[at]}` : options[at];
      }
      more.value = others.join(" ");
    },
    options() {
      const words = [];
      for (const [flag, input] of inputs) {
        if (input.value.trim()) { words.push(flag, input.value.trim()); }
      }
      return [...words, ...split(more.value)];
    },
    value: (flag) => inputs.get(flag)?.value.trim() || null,
    takesTable: () => COMMANDS[command].table,
  };
}

export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replace(/["\\$`]/g, "\\$&")}"`;
}

// Words as a shell reads them: blanks part, quotes hold together.
function split(text) {
  return Array.from(text.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g), ([word]) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g, (_, double, single, one) =>
      double !== undefined ? double.replace(/\\(.)/g, "$1") : single ?? one));
}
