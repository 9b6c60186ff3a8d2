// The process that runs tests for main.ts, one file for each message. All runs share one vitest, which starts
// once and compiles each module once.
import { readFileSync } from "node:fs"
import path from "node:path"
import process from "node:process"
import type { Plugin } from "vitest/config"
import { createVitest, type TestCase } from "vitest/node"
import { longestMillis } from "../../packages/testing/src/Waiting.ts"
import { type Canary, canaries, patched, stories } from "./Canaries.ts"
import type { Outcome } from "./Outcome.ts"

/** Asks for the tests of `file` whose names match `titles`, with the mutant `name` in the sources or, for "none", without one. */
export interface Task {
  readonly name: string
  readonly file: string
  readonly titles: string
}

const root = path.resolve(import.meta.dirname, "../..")
const pathOf = ({ file }: Canary) => path.join(root, file)
const damageable = new Set(canaries.map(pathOf))

let canary: Canary | undefined

/** Gives the tests one source file with the bug. The file on disk is unchanged, and vitest does not keep this module on disk. */
const plugin: Plugin = {
  name: "canary",
  enforce: "pre",
  configureVitest: (context) =>
    context.defineCacheKeyGenerator(({ id }) => (damageable.has(id) ? false : undefined)),
  load: (id) =>
    canary !== undefined && id === pathOf(canary) ? patched(canary, readFileSync(id, "utf8")) : undefined
}

const vitest = await createVitest(
  "test",
  {
    config: false,
    root,
    watch: false,
    pool: "forks",
    maxWorkers: 1,
    // With a bug, the first failure is enough.
    bail: 1,
    include: ["packages/*/test/**/*.test.ts", stories],
    testTimeout: longestMillis,
    hookTimeout: longestMillis,
    reporters: [{}]
  },
  { plugins: [plugin] }
)
await vitest.standalone()

const messageOf = ({ message }: { readonly message: string }) => message

const run = async ({ name, file, titles }: Task): Promise<Omit<Outcome, "seconds">> => {
  const before = canary
  canary = canaries.find((one) => one.name === name)
  for (const one of [before, canary]) if (one !== undefined) vitest.invalidateFile(pathOf(one))
  vitest.setGlobalTestNamePattern(new RegExp(titles, "i"))
  const specification = vitest.getRootProject().createSpecification(path.join(root, file))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification])
  // Vitest also returns the modules of earlier runs.
  const modules = testModules.filter(({ moduleId }) => moduleId === specification.moduleId)
  const tests = modules.flatMap(({ children }): ReadonlyArray<TestCase> => [...children.allTests()])
  const ended = (state: string) => tests.filter((test) => test.result().state === state)
  return {
    failed: ended("failed").map((test) => ({
      title: `${file}: ${test.fullName.replaceAll(" > ", " ")}`,
      why: String(test.result().errors?.[0]?.message ?? "").split("\n")[0] ?? ""
    })),
    passed: ended("passed").length,
    broken: [
      ...modules.flatMap((module) => module.errors().map(messageOf)),
      ...unhandledErrors.map((error) => String(error))
    ].join("\n")
  }
}

process.on("message", async (task: Task) => process.send?.(await run(task)))
process.on("disconnect", () => process.exit())
