import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import * as Cluster from "./Cluster.ts"

/** Skipped if no PostgreSQL can be started. If PostgreSQL is required, the suite fails instead. */
const isLeftOut = "missing" in PostgresServer.find() && process.env["REQUIRE_REAL_POSTGRES"] !== "1"

/** The tests of one cluster, run in sequence. Afterwards its processes stop and its books are checked. */
export const suite = (
  name: string,
  options: Cluster.Options,
  tell: (cluster: () => Cluster.Cluster) => void
): void => {
  describe.skipIf(isLeftOut)(`${name}`, () => {
    let cluster: Cluster.Cluster | undefined
    const current = () => cluster ?? assert.fail("the cluster did not start")
    beforeAll(async () => {
      cluster = await Cluster.make(options)
    })
    afterAll(() => cluster?.end())
    beforeEach(({ onTestFailed }) =>
      onTestFailed(() => {
        cluster?.release()
        console.error(cluster?.logs().slice(-10_000))
      })
    )
    tell(current)

    it("cluster: the books balance at the end", async () => {
      await current().complete()
      await current().audit()
      assert.isEmpty(current().alive())
    })
  })
}
