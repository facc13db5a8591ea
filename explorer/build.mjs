// Bundles the page's script and style into the package, or (--tests) the unit tests into out/.
// --out FOLDER bundles into another folder, so that a test can compare.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const argument = process.argv.indexOf("--out");
const target =
  argument > 0 ? process.argv[argument + 1] : join(here, "../src/graftwork/report/explorer");

/** All files below a folder, sorted by their paths. */
function files(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? files(path) : [path];
    })
    .sort();
}

/** What the bundle is made from, as one number: tests compare it where there is no node. */
function digest() {
  const hash = createHash("sha256");
  const sources = [
    ...files(join(here, "src")),
    join(here, "package.json"),
    join(here, "build.mjs"),
  ];
  for (const path of sources) {
    hash.update(relative(here, path).replaceAll("\\", "/"));
    hash.update("\0");
    hash.update(readFileSync(path));
    hash.update("\0");
  }
  return hash.digest("hex");
}

const shared = { bundle: true, charset: "utf8", target: "es2021", absWorkingDir: here };

if (process.argv.includes("--tests")) {
  rmSync(join(here, "out"), { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: files(join(here, "tests")).filter((path) => path.endsWith(".test.ts")),
    outdir: "out",
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    sourcemap: "inline",
  });
} else {
  mkdirSync(target, { recursive: true });
  const banner = `graftwork explorer, MIT licence. Nothing of others is bundled. Made by "make explorer" from sources ${digest()}`;
  for (const [entry, name, format] of [
    ["src/main.ts", "explorer.js", "iife"],
    ["src/style.css", "explorer.css", undefined],
  ]) {
    const done = await build({
      ...shared,
      entryPoints: [entry],
      format,
      minify: true,
      legalComments: "none",
      write: false,
    });
    const text = done.outputFiles[0].text;
    writeFileSync(join(target, name), `/* ${banner} */\n${text}`);
  }
}
