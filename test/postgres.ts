// PostgreSQL for the whole test run: the server in TEST_DATABASE_URL, or servers created for the run and
// removed afterwards. Each test file creates its own databases. Concurrent files use separate servers,
// because any transaction on a server, in any database, affects which events can be read.
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { workers } from "./workers.ts"

export default async (): Promise<(() => Promise<void>) | undefined> => {
  if ((process.env["TEST_DATABASE_URL"] ?? "") !== "") return undefined
  const found = PostgresServer.find()
  if ("missing" in found) {
    const said = `no PostgreSQL for the tests: TEST_DATABASE_URL is not set, and ${found.missing}`
    if (process.env["REQUIRE_REAL_POSTGRES"] === "1") throw new Error(said)
    console.log(`${said}. Tests that need a server are skipped.`)
    return undefined
  }
  const servers = await Promise.all(Array.from({ length: workers }, () => PostgresServer.start(found)))
  process.env["SATRAIL_TEST_SERVERS"] = servers.map(({ url }) => url).join(" ") // inherited by each process that runs a test file
  return async () => {
    await Promise.all(servers.map(({ end }) => end()))
  }
}
