// usage: node validate.mjs FILE...: Kubernetes and KEDA objects against their schemas.
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

const packages = { "keda.sh": "@kubernetes-models/keda/keda.sh" };
let bad = 0;

async function model(apiVersion, kind) {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const folder = packages[group] ?? `kubernetes-models${group ? `/${group}` : ""}`;
  const module = await import(`${folder}/${version}/${kind}`);
  return module[kind] ?? module.default[kind];
}

for (const file of process.argv.slice(2)) {
  const documents = parseAllDocuments(readFileSync(file, "utf8"));
  if (documents.length < 2) throw new Error(`${file}: not a list of objects`);
  for (const document of documents) {
    const object = document.toJS();
    const name = `${file}: ${object?.kind} ${object?.metadata?.name}`;
    try {
      if (document.errors.length > 0) throw document.errors[0];
      const Model = await model(object.apiVersion, object.kind);
      new Model(object).validate();
    } catch (error) {
      console.error(`${name}: ${error.message}`);
      bad = 1;
    }
  }
}
process.exit(bad);
