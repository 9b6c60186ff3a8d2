import { assert } from "@effect/vitest"
import type { Context } from "effect"
import { TestClock } from "effect/testing"
import { Journal } from "../src/ledger/Journal.ts"
import { Status } from "../src/service/Status.ts"
import { endpoint, sending, world } from "./Receivers.ts"
import { company, type Ports, replace, scenario, working } from "./World.ts"

/** Records the roles that workers take. */
const recorded = () => {
  const [made, taken] = [world(), new Set<string>()]
  const recording = ({ commit }: Journal["Service"]): Journal["Service"] => ({
    commit: (change) => {
      if (change._tag === "DutyStarted")
        for (const job of change.jobs ?? []) if (job._tag === "Enqueue") taken.add(job.kind)
      return commit(change)
    }
  })
  const change = (ports: Context.Context<Ports>) => replace(Journal, recording)(made.change?.(ports) ?? ports)
  return { ...made, taken, change }
}

scenario(
  "status: every role that a worker takes is listed, including those of features",
  recorded,
  function* ({ taken }) {
    yield* endpoint(yield* company())
    yield* working()
    yield* sending
    yield* TestClock.adjust("1 minute")
    const { roles } = yield* (yield* Status).now
    assert.deepStrictEqual(roles.map(({ role }) => role).toSorted(), [...taken].toSorted())
    assert.includeMembers([...taken], ["chain", "webhooks", "deliveries", "audit"])
  }
)
