// PostgreSQL for the whole run: the server that TEST_DATABASE_URL names, or servers made for it and gone after it. Each test file makes databases of its own.
// Files that run at once have a server each: which events can be read depends on every transaction of a server, in whichever of its databases.
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { workers } from "./workers.ts"

export default async (): Promise<(() => Promise<void>) | undefined> => {
  if ((process.env["TEST_DATABASE_URL"] ?? "") !== "") return undefined
  const found = PostgresServer.find()
  if ("missing" in found) {
    const said = `no PostgreSQL for the tests: TEST_DATABASE_URL names none, and ${found.missing}`
    if (process.env["REQUIRE_REAL_POSTGRES"] === "1") throw new Error(said)
    console.log(`${said}. What needs one is skipped.`)
    return undefined
  }
  const servers = await Promise.all(Array.from({ length: workers }, () => PostgresServer.start(found)))
  process.env["SATRAIL_TEST_SERVERS"] = servers.map(({ url }) => url).join(" ") // whoever runs a test file inherits it
  return async () => {
    await Promise.all(servers.map(({ end }) => end()))
  }
}
