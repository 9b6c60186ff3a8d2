// npm run canaries [-- --list | --after REPORT | NAME…]: runs the project's mutants and requires that the
// tests detect each. REPORT is the JSON report of a full test run. It shows which tests pass without a bug,
// and contains the results of port mutants, which are regular tests.
import { isInTurn } from "@satrail/testing/Turn"
import { programsMillis } from "@satrail/testing/Waiting"
import { type ChildProcess, fork } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import process from "node:process"
import startPostgres from "../postgres.ts"
import { type Canary, canaries, fits, stories } from "./Canaries.ts"
import * as Go from "./Go.ts"
import { inPorts, mutants } from "./Mutants.ts"
import type { Outcome } from "./Outcome.ts"
import type { Task } from "./runner.ts"

const root = path.resolve(import.meta.dirname, "../..")
const atOnce = 2

/** Each run loads the same modules. */
const compiled = mkdtempSync(path.join(os.tmpdir(), "satrail-compiled-"))
process.on("exit", () => rmSync(compiled, { recursive: true }))

/** The fields of vitest's JSON report that are used here. */
interface Report {
  readonly testResults: ReadonlyArray<TestFile>
}
interface TestFile {
  readonly name: string
  readonly message: string
  readonly assertionResults: ReadonlyArray<Test>
}
interface Test {
  readonly status: string
  readonly fullName: string
  /** Missing if a test was skipped because another one had failed. */
  readonly failureMessages?: ReadonlyArray<string> | null
}

/** The results of the selected tests in these files. */
const outcomeOf = (
  files: ReadonlyArray<TestFile>,
  seconds: number,
  isMeant: (test: Test) => boolean
): Outcome => {
  const tests = files.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(isMeant).map(({ status, fullName, failureMessages }) => ({
      status,
      title: `${path.relative(root, name)}: ${fullName}`,
      why: failureMessages?.[0]?.split("\n")[0] ?? ""
    }))
  )
  return {
    failed: tests.filter(({ status }) => status === "failed"),
    passed: tests.filter(({ status }) => status === "passed").length,
    broken: files.map(({ message }) => message).join("\n"),
    seconds
  }
}

const runners = new Set<ChildProcess>()
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    for (const runner of runners) runner.kill("SIGKILL")
    process.exit(130)
  })
}

/** The servers that no runner has. */
const free: Array<string> = []

/** Runs some tests with the bug of this name in the sources, or without one. */
const run = (name: string, file: string, titles: string): Promise<Outcome> =>
  Go.isGo(file)
    ? Go.run(
        canaries.find((one) => one.name === name),
        file,
        titles
      )
    : runVitest({ name, file, titles })

/** The runners that are not in use. Each has a PostgreSQL server of its own, like test files (test/postgres.ts). */
const idle: Array<ChildProcess> = []

const startRunner = (): ChildProcess => {
  const server = free.pop()
  const runner = fork(path.join(import.meta.dirname, "runner.ts"), {
    cwd: root,
    env: {
      ...process.env,
      // The turn selects canaries. The tests that must detect them all run.
      SATRAIL_TEST_TURN: undefined,
      NO_COLOR: "1",
      NODE_COMPILE_CACHE: compiled,
      ...(server !== undefined && { SATRAIL_TEST_SERVERS: server })
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  runners.add(runner)
  runner.on("close", () => {
    runners.delete(runner)
    if (server !== undefined) free.push(server)
  })
  return runner
}

const runVitest = async (task: Task): Promise<Outcome> => {
  const runner = idle.pop() ?? startRunner()
  const begunMillis = Date.now()
  const timer = setTimeout(() => runner.kill("SIGKILL"), programsMillis)
  const outcome = await new Promise<Omit<Outcome, "seconds"> | undefined>((resolve) => {
    const ended = () => resolve(undefined)
    runner.once("close", ended)
    runner.once("message", (told: Omit<Outcome, "seconds">) => {
      runner.off("close", ended)
      resolve(told)
    })
    runner.send(task)
  })
  clearTimeout(timer)
  const seconds = (Date.now() - begunMillis) / 1000
  if (outcome === undefined)
    return { failed: [], passed: 0, broken: "the process of the tests ended without a result", seconds }
  idle.push(runner)
  return { ...outcome, seconds }
}

let failures = 0
const tell = (verdict: "ok" | "FAILED" | "skipped", what: string, seconds: number, why: string) => {
  if (verdict === "FAILED") failures++
  console.log(`${verdict.padEnd(7)} ${what.padEnd(26)} ${seconds.toFixed(1).padStart(5)} s  ${why}`)
}

/** A canary, and the tests that must detect it. */
interface Trial {
  readonly canary: Canary
  readonly test: string
  readonly titles: string
}

const judge = async ({ canary, test, titles }: Trial) => {
  const { name, rows = [], bug, file } = canary
  const times = fits(canary, readFileSync(path.join(root, file), "utf8"))
  if (times !== 1)
    return tell("FAILED", name, 0, `it fits ${canary.in} in ${file} ${times} times instead of once`)
  const { failed, passed, broken, seconds } = await run(name, test, titles)
  const [first] = failed
  if (first !== undefined) return tell("ok", name, seconds, `C${rows.join(", C")}: ${first.title}`)
  // A source that does not load is not a realistic bug.
  if (passed === 0) return tell("FAILED", name, seconds, `no test of ${test} ran:\n${broken}`)
  return tell("FAILED", name, seconds, `${passed} tests of ${test} stay green though ${bug}`)
}

/** The results of one file in a full test run. */
const known = (report: Report, file: string, titles: string): Outcome | undefined => {
  const found = report.testResults.filter(({ name }) => path.relative(root, name) === file)
  if (found.length === 0) return undefined
  const chosen = new RegExp(titles, "i")
  return outcomeOf(found, 0, ({ fullName }) => chosen.test(fullName))
}

/** The same tests must pass without a bug, which proves that they detect the bug. */
const control = async (file: string, trials: ReadonlyArray<Trial>, report: Report | undefined) => {
  const titles = [
    ...new Set(trials.filter(({ test }) => test === file).map(({ titles }) => `(?:${titles})`))
  ].join("|")
  const before = report === undefined ? undefined : known(report, file, titles)
  const { failed, passed, broken, seconds } = before ?? (await run("none", file, titles))
  if (failed.length > 0)
    return tell(
      "FAILED",
      "none",
      seconds,
      `red without any bug:\n${failed.map(({ title, why }) => `${title}\n  ${why}`).join("\n")}`
    )
  if (passed === 0) return tell("FAILED", "none", seconds, `no test of ${file} ran:\n${broken}`)
  return tell("ok", "none", seconds, `${passed} tests of ${file} are green without a bug`)
}

/**
 * Judges the port mutants of one file, whose tests apply each mutant and check that the guarantees it names are
 * broken.
 */
const judgePorts = async (file: string, names: ReadonlyArray<string>) => {
  const here = inPorts.filter(({ where, name }) => where === file && names.includes(name))
  const { failed, passed, broken, seconds } = await run(
    "none",
    file,
    here.map(({ titles }) => titles).join("|")
  )
  const what = path.basename(file, ".ts")
  for (const { title, why } of failed) tell("FAILED", what, seconds, `${title}\n  ${why}`)
  if (passed + failed.length < here.length)
    return tell("FAILED", what, seconds, `${passed} tests of ${here.length} mutants ran:\n${broken}`)
  if (failed.length === 0)
    tell("ok", what, seconds, `${here.length} mutants of ports are noticed, by ${passed} tests`)
}

const args = process.argv.slice(2)
if (args[0] === "--list") {
  for (const { name, bug, where, noticedBy } of mutants)
    console.log([`${name}: ${bug}`, where, ...noticedBy].join("\n    "))
  process.exit()
}
const [, reportFile, ...afterIt] = args[0] === "--after" ? args : []
const report: Report | undefined =
  reportFile === undefined ? undefined : JSON.parse(readFileSync(reportFile, "utf8"))
const names = report === undefined ? args : afterIt
const unknown = names.filter((name) => !mutants.some((one) => one.name === name))
if (unknown.length > 0) {
  console.error(`No such mutant: ${unknown.join(", ")}. npm run canaries -- --list lists them`)
  process.exit(1)
}
const chosen = canaries.filter(({ name }, number) =>
  names.length === 0 ? isInTurn(number) : names.includes(name)
)
const chosenPorts =
  report !== undefined ? [] : inPorts.filter(({ name }) => names.length === 0 || names.includes(name))

const begunMillis = Date.now()
const endPostgres = chosen.some(({ needsServer }) => needsServer) ? await startPostgres() : undefined
free.push(...(process.env["SATRAIL_TEST_SERVERS"] ?? "").split(" ").filter((url) => url !== ""))
const hasServer = free.length > 0 || (process.env["TEST_DATABASE_URL"] ?? "") !== ""
const hasGo = chosen.some(({ test }) => Go.isGo(test)) && Go.isHere()
const lacks = ({ needsServer, test }: Canary): string | undefined => {
  if (needsServer && !hasServer) return "it needs a PostgreSQL server"
  return Go.isGo(test) && !hasGo ? "it needs Go" : undefined
}
const possible = chosen.filter((canary) => lacks(canary) === undefined)
const trials = possible.flatMap((canary): ReadonlyArray<Trial> => {
  const { test, titles, isInStories } = canary
  return [{ canary, test, titles }, ...(isInStories ? [{ canary, test: stories, titles: "." }] : [])]
})
const files = [...new Set(trials.map(({ test }) => test))]
const tables = [...new Set(chosenPorts.map(({ where }) => where))]
const namesOfPorts = chosenPorts.map(({ name }) => name)
const queue = [
  ...tables.map((file) => () => judgePorts(file, namesOfPorts)),
  ...files.map((file) => () => control(file, trials, report)),
  ...trials.map((trial) => () => judge(trial))
]
const work = async (): Promise<void> => {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next()
}
await Promise.all(Array.from({ length: atOnce }, work))
for (const canary of chosen.filter((one) => !possible.includes(one)))
  tell("skipped", canary.name, 0, lacks(canary) ?? "")
for (const runner of idle) runner.disconnect()
await endPostgres?.()
console.log(
  `${possible.length + chosenPorts.length} bugs, ${failures} failures, ${((Date.now() - begunMillis) / 1000).toFixed(0)} s`
)
process.exitCode = failures === 0 ? 0 : 1
