// The page and its worker, from src/: bundle.mjs SITE
import { copyFile, readFile, readdir, stat, writeFile } from "node:fs/promises";
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

// How much there is to load before the first check, for the progress bar.
const loaded = ["packages.zip", ...(await readdir(join(site, "pyodide"))).map((name) => `pyodide/${name}`)];
const sizes = {};
for (const name of loaded) { sizes[name] = (await stat(join(site, name))).size; }
await writeFile(join(site, "sizes.json"), JSON.stringify(sizes));
