// A question as the fragment of a link: compressed JSON in the letters of base64url. Fragments are sent to nobody.
const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();

export async function toFragment(question) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(question)), new CompressionStream("deflate-raw"));
  const letters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return "#1" + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The question, or null where the fragment is none.
export async function fromFragment(fragment) {
  if (!fragment.startsWith("#1")) { return null; }
  try {
    const letters = atob(fragment.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
    const { command, program, table, options } = JSON.parse(text);
    const isFile = (file) => typeof file.name === "string" && typeof file.text === "string";
    const good = typeof command === "string" && isFile(program) && (table === null || isFile(table))
      && Array.isArray(options) && options.every((word) => typeof word === "string");
    return good ? { command, program, table, options } : null;
  } catch {
    return null;
  }
}
