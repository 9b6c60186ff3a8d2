import { defineConfig } from "vitest/config"
import { testMillis } from "./packages/testing/src/Waiting.ts"
import { LongestFirst } from "./test/sequencer.ts"
import { workers } from "./test/workers.ts"

// What a test file needs is in its name (docs/decisions/proof.md#0045). `npm test` runs what has no such name, `npm run test:all` everything:
// *.slow.test.ts starts processes of the service again and again, *.chain.test.ts has a chain of its own and is run on each node's, *.btcd.test.ts and
// *.bitcoind.test.ts on that one's, *.regtest.test.ts shares one network of Lightning nodes, so these take turns: a balance is looked at before and after.
const real = { btcd: ["chain", "btcd"], bitcoind: ["chain", "bitcoind"], regtest: ["regtest"] }
const named = ["slow", ...new Set(Object.values(real).flat())].map((name) => `**/*.${name}.test.ts`)
const folders = ["packages/*/test/**", "examples/*/test/**", "test/**"]

// Tests of these packages start servers, embedded databases and processes: each file has a process of its own, since native modules and an embedded
// database do not share one well. All others share processes, and what they import is read once: a third of the processor time.
const apart = ["bench", "postgres", "regtest", "server", "testing"].map((name) => `packages/${name}/test/**/*.test.ts`)

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: workers,
    sequence: { sequencer: LongestFirst },
    testTimeout: testMillis,
    hookTimeout: testMillis,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          isolate: false,
          include: folders.map((folder) => `${folder}/*.test.ts`),
          exclude: ["**/node_modules/**", ...apart, ...named]
        }
      },
      {
        extends: true,
        test: {
          name: "fast-apart",
          globalSetup: ["test/postgres.ts", "packages/server/test/programs.ts"],
          include: apart,
          exclude: ["**/node_modules/**", ...named]
        }
      },
      {
        extends: true,
        test: {
          name: "slow",
          globalSetup: ["test/postgres.ts", "packages/server/test/programs.ts"],
          include: folders.map((folder) => `${folder}/*.slow.test.ts`)
        }
      },
      ...Object.entries(real).map(([name, files]) => ({
        extends: true as const,
        test: {
          name,
          include: files.map((file) => `packages/*/test/**/*.${file}.test.ts`),
          provide: { chain: name === "bitcoind" ? ("bitcoind" as const) : ("btcd" as const) },
          globalSetup: ["packages/server/test/programs.ts", `packages/regtest/test/${name}Setup.ts`],
          ...(name === "regtest" && { fileParallelism: false })
        }
      }))
    ]
  }
})
