// node scripts/lines.mjs [REVISION]: lines of product and of proof (docs/decisions/0067-one-of-each.md).
import { execFileSync } from "node:child_process"
import process from "node:process"

const [revision = "HEAD"] = process.argv.slice(2)
const products = ["bitcoin", "chain", "core", "http", "memory", "nodes", "postgres", "sandbox", "server", "web"]
const git = (/** @type {ReadonlyArray<string>} */ ...args) => execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 28 })

/** @type {Map<string, number>} */
const sums = new Map()
const add = (/** @type {string} */ name, /** @type {number} */ lines) => sums.set(name, (sums.get(name) ?? 0) + lines)
for (const file of git("ls-tree", "-r", "--name-only", revision).trim().split("\n")) {
  const [, name = "", where = ""] = /^packages\/(\w+)\/(src|test)\/.*\.ts$/.exec(file) ?? []
  const isProduct = where === "src" && products.includes(name)
  if (where === "" && !/^(examples\/[\w-]+\/)?test\/.*\.ts$/.test(file)) continue
  const lines = git("show", `${revision}:${file}`).split("\n").length - 1
  add(isProduct ? "product" : "proof", lines)
  add(`  ${isProduct ? "product" : "proof"}: ${where === "" ? "test" : `${name}/${where}`}`, lines)
}
for (const [name, lines] of [...sums].toSorted()) console.log(`${String(lines).padStart(7)} ${name}`)
console.log(`${((sums.get("proof") ?? 0) / (sums.get("product") ?? 1)).toFixed(2)} lines of proof for each of product`)
