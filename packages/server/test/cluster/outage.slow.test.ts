import { assert, it } from "@effect/vitest"
import * as Callers from "./Callers.ts"
import { suite } from "./Suite.ts"

suite("PostgreSQL is killed under load", {}, (cluster) => {
  it("outage: every acknowledged request is recorded, and every other request takes effect at most once", async () => {
    const callers = await Callers.make(cluster(), 24)
    await callers.during(async () => {
      for (let times = 1; times <= 2; times++) {
        await callers.grows("answers", callers.answers, 100)
        await cluster().postgres.stop("immediate")
        await callers.grows("requests without a response", callers.losses, callers.count)
        await cluster().postgres.restart()
      }
      await callers.grows("answers again", callers.answers, 100)
    })
    // Release claims made by processes that did not receive the commit's acknowledgment.
    cluster().overslept()
    await callers.served()
    assert.strictEqual(await callers.missing(), 0)
    await callers.agree()
  })
})
