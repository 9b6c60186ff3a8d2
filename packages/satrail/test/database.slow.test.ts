import { assert, describe, it } from "@effect/vitest"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { SatrailError, satrail } from "../src/index.ts"

const installation = PostgresServer.find()

const refused = (database: string) =>
  satrail({ database, logLevel: "error" }).then(
    () => assert.fail("it started"),
    (error: unknown) => error
  )

describe.skipIf("missing" in installation)("satrail on PostgreSQL (skipped where there is none)", () => {
  if ("missing" in installation) return

  it("pay: a database that cannot be used is reported with a SatrailError that says what to do", async () => {
    const rules = ["host all keeper 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust"]
    const server = await PostgresServer.start(installation, { files: { "pg_hba.conf": rules.join("\n") } })
    try {
      for (const [database, says] of [
        [server.url.replace("postgres@", "keeper:wrong-password@"), "Check the user and password"],
        [server.url.replace(/postgres$/, "none"), "Create it, or use another name"],
        [
          server.url.replace(`:${server.port}/`, ":1/"),
          "Check that it is running and that the address is right"
        ]
      ] as const) {
        const error = await refused(database)
        assert(error instanceof SatrailError, String(error))
        assert.match(error.message, /^satrail cannot start: .* 127\.0\.0\.1:/)
        assert.include(error.message, says)
        assert.notInclude(error.message, "wrong-password")
        assert.strictEqual(error.code, "database_unreachable")
      }
    } finally {
      await server.end()
    }
  })
})
