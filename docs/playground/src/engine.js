// dipc in its worker: one question at a time; whoever asks while it works replaces whoever waits.
export class Engine {
  #worker = null;
  #number = 0;
  #now = null; // the message being answered, with what to do with its events
  #next = new Map(); // the newest message of each kind that waits
  #ready = false;

  constructor(told) {
    this.told = told;
    this.#start();
  }

  get busy() { return this.#now?.message.kind === "ask"; }

  #start() {
    this.#ready = false;
    this.#worker = new Worker("worker.js", { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#heard(data);
    this.#worker.onerror = (event) => this.told({ kind: "broken", text: event.message ?? "the worker did not start" });
  }

  // End what is being computed, with everything that it holds, and begin with another worker.
  stop() {
    this.#next.clear();
    this.#restart();
  }

  // Those who wait come next: what is being computed has `patience` milliseconds to end, or its worker is ended.
  hurry(patience) {
    const number = this.#number;
    setTimeout(() => { if (this.#now && this.#number === number && this.#next.size) { this.#restart(); } }, patience);
  }

  #restart() {
    this.#worker.terminate();
    this.#now = null;
    this.#start();
  }

  // `heard` is called with every event of the answer.
  send(message, heard) {
    this.#next.set(message.kind, { message, heard });
    this.#advance();
  }

  forget(kind) { this.#next.delete(kind); }

  #advance() {
    if (!this.#ready || this.#now) { return; }
    const kind = ["form", "mistakes", "ask", "draw"].find((each) => this.#next.has(each));
    if (!kind) { return; }
    this.#now = this.#next.get(kind);
    this.#next.delete(kind);
    this.#number += 1;
    this.#worker.postMessage({ ...this.#now.message, number: this.#number });
  }

  #heard(event) {
    if (event.kind === "loading" || event.kind === "broken") { this.told(event); return; }
    if (event.kind === "ready") { this.#ready = true; this.told(event); this.#advance(); return; }
    if (event.number !== this.#number || !this.#now) { return; }
    const { heard } = this.#now;
    if (event.kind === "done") { this.#now = null; }
    heard(event);
    this.#advance();
  }
}
