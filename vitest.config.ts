import { defineConfig } from "vitest/config"
import { testMillis } from "./packages/testing/src/Waiting.ts"
import { keepBytecode } from "./test/bytecode.ts"
import { LongestFirst } from "./test/sequencer.ts"
import { workers } from "./test/workers.ts"

// The name of a test file states what it needs (docs/decisions/proof.md#0045). `npm test` runs the files without such a name, `npm run test:all` runs
// all. *.slow.test.ts takes more than about five seconds, or starts processes of the service repeatedly. *.chain.test.ts starts its own chains, and runs on btcd and bitcoind. *.btcd.test.ts and
// *.bitcoind.test.ts run on one of them. *.regtest.test.ts shares one network of Lightning nodes, one file at a time, because tests compare balances.
const real = { btcd: ["chain", "btcd"], bitcoind: ["chain", "bitcoind"], regtest: ["regtest"] }
const named = ["slow", ...new Set(Object.values(real).flat())].map((name) => `**/*.${name}.test.ts`)
const folders = ["packages/*/test/**", "examples/*/test/**", "test/**"]

// Tests of these packages need a PostgreSQL server or bundled programs. All fast files share processes and load their imports once, which saves a
// third of the processor time. Node loads them itself, without Vite, which saves a tenth.
const apart = ["bench", "postgres", "regtest", "server", "testing"].map(
  (name) => `packages/${name}/test/**/*.test.ts`
)

keepBytecode()

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: workers,
    execArgv: ["--max-semi-space-size=64"], // megabytes: copying young objects less often saves 5 % of the processor time
    sequence: { sequencer: LongestFirst },
    testTimeout: testMillis,
    hookTimeout: testMillis,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          isolate: false,
          experimental: { viteModuleRunner: false },
          include: folders.map((folder) => `${folder}/*.test.ts`),
          exclude: ["**/node_modules/**", ...apart, ...named]
        }
      },
      {
        extends: true,
        test: {
          name: "fast-apart",
          isolate: false,
          experimental: { viteModuleRunner: false },
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
