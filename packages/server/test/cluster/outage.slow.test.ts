import { assert, it } from "@effect/vitest"
import * as Callers from "./Callers.ts"
import { suite } from "./Suite.ts"

suite("PostgreSQL is killed under load", {}, (cluster) => {
  it("outage: every answered request is recorded, every unanswered one once or not at all", async () => {
    const callers = await Callers.make(cluster(), 24)
    await callers.during(async () => {
      for (let times = 1; times <= 2; times++) {
        await callers.grows("answers", callers.answers, 100)
        await cluster().postgres.stop("immediate")
        await callers.grows("requests without an answer", callers.losses, callers.count)
        await cluster().postgres.restart()
      }
      await callers.grows("answers again", callers.answers, 100)
    })
    // Whatever was claimed by somebody who did not hear of it.
    cluster().overslept()
    await callers.served()
    assert.strictEqual(await callers.missing(), 0)
    await callers.agree()
  })
})
