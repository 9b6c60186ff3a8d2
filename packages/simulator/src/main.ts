import * as Simulation from "./Simulation.ts"
import * as Store from "./Store.ts"
import * as Coverage from "./Coverage.ts"

const [first = "1", count = "1", operations = "200"] = process.argv.slice(2)
const store = await Store.open("memory")
const coverage = Coverage.make()
const begun = performance.now()
for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const s = performance.now()
  const outcome = await Simulation.run(seed, { store, operations: Number(operations) })
  coverage.add(outcome.coverage)
  console.log(seed, outcome.hash, outcome.history.length, (performance.now() - s).toFixed(0), "ms", outcome.violation ?? "ok", outcome.at)
  if (outcome.violation !== undefined && count === "1") console.log(outcome.history.slice(-200).join("\n"))
}
for (const kind of Coverage.kinds) console.log(kind, Object.fromEntries([...coverage.counts(kind)].toSorted()))
console.log(((performance.now() - begun) / Number(count)).toFixed(1), "ms a seed")
