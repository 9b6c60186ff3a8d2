import { defineConfig } from "vitest/config"

// What runs real programs is named for them: *.btcd.test.ts has a chain to itself, *.regtest.test.ts shares one network of Lightning nodes.
const real = ["btcd", "regtest"] as const

export default defineConfig({
  test: {
    // A process for each file: native modules and the embedded database do not share one well.
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 60_000, // the embedded database is made in a hook
    projects: [
      {
        extends: true,
        test: {
          name: "satrail",
          globalSetup: ["test/postgres.ts"],
          include: ["packages/*/test/**/*.test.ts", "examples/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...real.map((name) => `**/*.${name}.test.ts`)]
        }
      },
      ...real.map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`packages/*/test/**/*.${name}.test.ts`],
          globalSetup: `packages/regtest/test/${name}Setup.ts`,
          fileParallelism: false, // a balance is looked at before and after
          testTimeout: 300_000 // real nodes share a machine with whatever else it does
        }
      }))
    ]
  }
})
