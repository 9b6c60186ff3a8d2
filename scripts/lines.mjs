// node scripts/lines.mjs [REVISION…]: lines of product and of proof, a column for each revision (docs/decisions/0067-one-of-each.md).
import { execFileSync } from "node:child_process"
import process from "node:process"

const git = (/** @type {ReadonlyArray<string>} */ ...args) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 28 })

/** The group of a source, by the first pattern that fits. Stand-ins are product: people try the service and test their own with them. */
const groups = Object.entries({
  "product: service": /^packages\/(bitcoin|chain|core|http|nodes|postgres|server|ui|web)\/(src|browser)\//,
  "product: stand-ins": /^packages\/(memory|sandbox)\/src\//,
  "proof: contracts": /^packages\/contracts\/src\//,
  "proof: engines": /^(packages\/(simulator|testing)\/|packages\/contracts\/test\/|test\/defences)/,
  "proof: benchmarks, real network": /^packages\/(bench|regtest)\//,
  "proof: tests": /^(packages\/\w+\/test|examples\/[\w-]+\/test|test)\//
})

const count = (/** @type {string} */ revision) => {
  /** @type {Map<string, number>} */
  const sums = new Map(groups.map(([name]) => [name, 0]))
  // Nothing is on every line.
  for (const line of git("grep", "--count", "", revision, "--", "*.ts").trim().split("\n")) {
    const [, file = "", lines = ""] = /^[^:]+:(.+):(\d+)$/.exec(line) ?? []
    const name = groups.find(([, pattern]) => pattern.test(file))?.[0]
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + Number(lines))
  }
  const all = (/** @type {string} */ kind) => [...sums].reduce((sum, [name, lines]) => (name.startsWith(`${kind}:`) ? sum + lines : sum), 0)
  const [product, proof] = [all("product"), all("proof")]
  return [...sums, ["product", product], ["proof", proof], ["proof for each line of product", (proof / product).toFixed(2)]]
}

const revisions = process.argv.length > 2 ? process.argv.slice(2) : ["HEAD"]
const columns = revisions.map(count)
console.log(["".padEnd(34), ...revisions.map((revision) => revision.padStart(9))].join(""))
for (const [at, [name]] of (columns[0] ?? []).entries())
  console.log([String(name).padEnd(34), ...columns.map((column) => String(column[at]?.[1]).padStart(9))].join(""))
