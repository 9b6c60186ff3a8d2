import { defineConfig } from "vitest/config"
import { testMillis } from "./packages/testing/src/Waiting.ts"

// What a test file needs is in its name (docs/decisions/0045-two-tiers.md). `npm test` runs what has no such name, `npm run test:all` everything:
// *.slow.test.ts starts processes of the service again and again, *.btcd.test.ts has a chain of its own, *.regtest.test.ts shares one network of Lightning nodes.
const slow = "slow"
const real = ["btcd", "regtest"] as const
const folders = ["packages/*/test/**", "examples/*/test/**", "test/**"]

export default defineConfig({
  test: {
    // A process for each file: native modules and the embedded database do not share one well.
    pool: "forks",
    testTimeout: testMillis,
    hookTimeout: testMillis,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          globalSetup: ["test/postgres.ts"],
          include: folders.map((folder) => `${folder}/*.test.ts`),
          exclude: ["**/node_modules/**", ...[slow, ...real].map((name) => `**/*.${name}.test.ts`)]
        }
      },
      {
        extends: true,
        test: { name: slow, globalSetup: ["test/postgres.ts"], include: folders.map((folder) => `${folder}/*.${slow}.test.ts`) }
      },
      ...real.map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`packages/*/test/**/*.${name}.test.ts`],
          globalSetup: `packages/regtest/test/${name}Setup.ts`,
          fileParallelism: false // a balance is looked at before and after
        }
      }))
    ]
  }
})
