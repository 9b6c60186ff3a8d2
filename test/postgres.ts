// A PostgreSQL for the whole run: the one that TEST_DATABASE_URL names, or one made for it and gone after it. Each test file makes databases of its own.
import * as PostgresServer from "@satrail/testing/PostgresServer"

export default async (): Promise<(() => Promise<void>) | undefined> => {
  if ((process.env["TEST_DATABASE_URL"] ?? "") !== "") return undefined
  const found = PostgresServer.find()
  if ("missing" in found) {
    const said = `no PostgreSQL for the tests: TEST_DATABASE_URL names none, and ${found.missing}`
    if (process.env["REQUIRE_REAL_POSTGRES"] === "1") throw new Error(said)
    console.log(`${said}. What needs one is skipped.`)
    return undefined
  }
  const server = await PostgresServer.start(found)
  process.env["TEST_DATABASE_URL"] = server.url // whoever runs a test file inherits it
  return server.end
}
