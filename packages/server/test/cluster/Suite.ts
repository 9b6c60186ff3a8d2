import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import * as Cluster from "./Cluster.ts"

/** Left out where no PostgreSQL can be made, unless one is required: then it fails. */
const isLeftOut = "missing" in PostgresServer.find() && process.env["REQUIRE_REAL_POSTGRES"] !== "1"

/** Promises of one cluster, told one after the other. In the end its processes stop, and its books are right. */
export const suite = (name: string, options: Cluster.Options, tell: (cluster: () => Cluster.Cluster) => void): void => {
  describe.skipIf(isLeftOut)(`${name}`, () => {
    let cluster: Cluster.Cluster | undefined
    const current = () => cluster ?? assert.fail("the cluster did not start")
    beforeAll(async () => {
      cluster = await Cluster.make(options)
    })
    afterAll(() => cluster?.end())
    beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster?.logs().slice(-10_000))))
    tell(current)

    it("cluster: the books are right in the end", async () => {
      await current().complete()
      await current().audit()
      assert.isEmpty(current().alive())
    })
  })
}
