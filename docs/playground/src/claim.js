// The claim as fields, and as the words of a command.
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
  check: { fields: ACCURACY, table: true },
  privacy: { fields: ["--adjacent", "--inputs", "-D", "--budget", "--delta", "--eps"], table: false },
  tighten: { fields: ACCURACY, table: true },
  solve: { fields: [...ACCURACY, "--for"], table: true },
  prob: { fields: ["--input", "-D", "--eps"], table: false },
};

export function makeClaim(host, changed) {
  let command = null;
  const inputs = new Map();
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
    // The fields of the command, with what those of the same names held before.
    choose(name) {
      const held = new Map([...inputs].map(([flag, input]) => [flag, input.value]));
      inputs.clear();
      command = name;
      const beside = COMMANDS[name].fields.filter((flag) => flag !== "--beta").length % 2 === 1;
      host.replaceChildren(
        ...COMMANDS[name].fields.map((flag) => {
          const input = document.createElement("input");
          input.value = held.get(flag) ?? "";
          inputs.set(flag, input);
          return field(...FIELDS[flag], input, flag === "--beta");
        }),
        field("more options", "--for-all \"m >= 3\" --digits 12", more, !beside),
      );
    },
    show(options) {
      const others = [];
      for (const input of inputs.values()) { input.value = ""; }
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
