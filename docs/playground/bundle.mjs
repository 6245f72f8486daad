// The page and its worker, from src/: bundle.mjs SITE
import { createHash } from "node:crypto";
import { copyFile, readFile, readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const site = process.argv[2];
const assets = resolve("../../dipc/outcome/assets");

// The plot of the reports, as it is: a script that draws what is in the page. Here it is a function.
const plot = {
  name: "plot",
  setup(build) {
    build.onResolve({ filter: /^report:plot$/ }, () => ({ path: "plot", namespace: "report" }));
    build.onLoad({ filter: /.*/, namespace: "report" }, async () => {
      const [library, script] = await Promise.all(
        ["uplot.min.js", "plot.js"].map((name) => readFile(join(assets, name), "utf8")),
      );
      return { contents: `${library}\nexport function drawPlot() {\n${script}\n}`, loader: "js" };
    });
  },
};

await build({
  entryPoints: ["src/page.js", "src/worker.js"],
  outdir: site,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  external: ["./pyodide/*"],
  plugins: [plot],
  logLevel: "warning",
});
const styles = await Promise.all(
  [join(assets, "style.css"), join(assets, "uplot.min.css"), "src/page.css"].map((path) => readFile(path, "utf8")),
);
await writeFile(join(site, "page.css"), styles.join("\n"));
await copyFile("src/index.html", join(site, "index.html"));

// How much there is to load before the first check, for the progress bar; what the browser kept of another version is let go.
const loaded = ["packages.gz", ...(await readdir(join(site, "pyodide"))).map((name) => `pyodide/${name}`)];
const sizes = {};
const version = createHash("sha256");
for (const name of loaded) {
  const bytes = await readFile(join(site, name));
  sizes[name] = bytes.length;
  version.update(bytes);
}
const names = JSON.parse(await readFile("build/packages.json", "utf8"));
await writeFile(join(site, "start.json"), JSON.stringify({ version: version.digest("hex").slice(0, 16), sizes, names }));
