import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/*/test/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/postgres.ts"],
    // A process for each file: native modules and the embedded database do not share one well.
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 60_000 // the embedded database is made in a hook
  }
})
