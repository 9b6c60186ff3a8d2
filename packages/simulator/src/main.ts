import { parseArgs } from "node:util"
import * as Crash from "./Crash.ts"
import { stories } from "./CrashStories.ts"
import * as Expected from "./Expected.ts"
import { shrink } from "./Shrink.ts"
import * as Simulation from "./Simulation.ts"
import * as Coverage from "./world/Coverage.ts"
import * as Store from "./world/Store.ts"

const usage = `npm run simulate -- [--seeds N] [--from N] [--seed N] [--minutes M] [--store memory|pglite] [--operations N] [--crashes]

  --seeds N       runs the scenarios of N seeds (default 100)
  --from N        the first seed (default 1)
  --seed N        runs the scenario of one seed and prints each call
  --minutes M     runs scenarios for M minutes
  --store S       the store (default memory)
  --operations N  operations per scenario (default 200)
  --crashes       runs a few short scenarios repeatedly; in each run, one call fails`

const stop = (message: string): never => {
  console.error(`${message}\n\n${usage}`)
  process.exit(2)
}

const whole = (name: string, text: string | undefined, fallback: number): number => {
  if (text === undefined) return fallback
  const number = Number(text)
  return Number.isInteger(number) && number >= 1 && number < 2 ** 32
    ? number
    : stop(`--${name} must be a whole number of at least 1, got ${text}`)
}

const given = () => {
  try {
    const text = { type: "string" } as const
    const options = {
      seeds: text,
      from: text,
      seed: text,
      minutes: text,
      store: text,
      operations: text,
      crashes: { type: "boolean" }
    } as const
    return parseArgs({ options, allowPositionals: false }).values
  } catch (error) {
    return stop(error instanceof Error ? error.message : String(error))
  }
}

const values = given()
const isStore = (text: string): text is Store.Name => Store.names.some((name) => name === text)
const storeName = values.store ?? "memory"
if (!isStore(storeName)) stop(`--store must be one of ${Store.names.join(", ")}, got ${storeName}`)
const operations = whole("operations", values.operations, 200)
const minutes = values.minutes === undefined ? undefined : whole("minutes", values.minutes, 1)
const alone = values.seed === undefined ? undefined : whole("seed", values.seed, 1)
const first = alone ?? whole("from", values.from, 1)
const count = alone === undefined ? whole("seeds", values.seeds, 100) : 1

const store = await Store.open(isStore(storeName) ? storeName : "memory")
const options: Simulation.Options = { store, operations }
const coverage = Coverage.make()
const begun = performance.now()
const seconds = () => (performance.now() - begun) / 1000
const isOver = (told: number) => (minutes === undefined ? told >= count : seconds() >= minutes * 60)

/** Prints the violation and the command that reproduces it. */
const report = async (outcome: Simulation.Outcome) => {
  console.log(
    `\nseed ${outcome.seed}, operation ${outcome.at} of ${outcome.operations.length}: ${outcome.violation}`
  )
  console.log("shrinking the scenario …")
  const short = await shrink(outcome, (operations) => Simulation.tell(outcome.seed, operations, options))
  console.log(`\n${short.operations.length} operations reproduce it: ${short.violation}`)
  for (const { act, rushes } of short.operations) console.log(`  ${rushes ? "& " : ""}${JSON.stringify(act)}`)
  console.log("\nthe last calls:")
  for (const line of short.history.slice(-60)) console.log(`  ${line}`)
  const also = `${operations === 200 ? "" : ` --operations ${operations}`}${storeName === "memory" ? "" : ` --store ${storeName}`}`
  console.log(`\nto reproduce the whole scenario: npm run simulate -- --seed ${outcome.seed}${also}`)
}

if (values.crashes === true) {
  for (const [title, story] of Object.entries(stories)) {
    const { positions, broken } = await Crash.everywhere(story, store, () => Crash.fates)
    console.log(
      `${String(positions * Crash.fates.length).padStart(10)}  ${title}${broken === undefined ? "" : `: ${broken}`}`
    )
    if (broken !== undefined) process.exitCode = 1
  }
  console.log(
    `each crash point ran with ${Crash.fates.length} faults on ${storeName} in ${seconds().toFixed(0)} s`
  )
  await store.close()
  process.exit()
}

let told = 0
let reportedSeconds = 0
let broken: Simulation.Outcome | undefined
for (; broken === undefined && !isOver(told); told++) {
  const outcome = await Simulation.run(first + told, options)
  coverage.add(outcome.coverage)
  if (alone !== undefined) {
    for (const line of outcome.history) console.log(line)
    console.log(`seed ${alone}: the hash of its history is ${outcome.hash}`)
  }
  if (outcome.violation !== undefined) broken = outcome
  if (seconds() - reportedSeconds > 10) {
    reportedSeconds = seconds()
    console.log(
      `${told + 1} scenarios, ${((told + 1) / seconds()).toFixed(1)} per second; the last: seed ${outcome.seed}, hash ${outcome.hash}`
    )
  }
}

for (const kind of Coverage.kinds) {
  console.log(`\n${kind}`)
  for (const [name, times] of [...coverage.counts(kind)].toSorted())
    console.log(`${String(times).padStart(10)}  ${name}`)
}
console.log(
  `\n${told} scenarios of ${operations} operations on ${storeName} in ${seconds().toFixed(0)} s: ${(told / seconds()).toFixed(1)} per second`
)
if (broken !== undefined) {
  await report(broken)
  process.exitCode = 1
} else {
  const missing = told < Expected.storiesNeeded ? [] : Expected.missing(coverage)
  for (const name of missing) console.log(`never happened: ${name}`)
  if (missing.length > 0) process.exitCode = 1
  else console.log("no violations")
}
await store.close()
