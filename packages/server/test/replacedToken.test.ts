import { assert, it } from "@effect/vitest"
import * as Answer from "@satrail/core/ledger/Answer"
import { root } from "@satrail/core/accounts/OperatorToken"
import { Companies } from "@satrail/core/accounts/Companies"
import * as Msat from "@satrail/bitcoin/Msat"
import { Adjustments } from "@satrail/features/adjustments/core/Adjustments"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Layer } from "effect"
import * as Environment from "../src/deployment/Environment.ts"
import * as Server from "../src/serving/Server.ts"

const outside = Layer.mergeAll(
  Sandbox.layer({ seed: "tokens", network: "regtest" }),
  SimulatedRelays.layer,
  FixedRates.layer()
)
const [old, next] = ["a".repeat(32), "b".repeat(32)]

it.effect("two operators: requests made with a configured token end when the configuration has another", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const store = yield* Layer.build(Memory.layer)
      const processWith = Effect.fnUntraced(function* (token: string) {
        const environment = yield* Effect.fromResult(Environment.read({ SATRAIL_OPERATOR_TOKEN: token }))
        return yield* Layer.build(
          Layer.fresh(Server.servicesOver(environment, outside, Layer.succeedContext(store)))
        )
      })
      const [before, again, after] = [
        yield* processWith(old),
        yield* processWith(old),
        yield* processWith(next)
      ]
      const ask = Effect.gen(function* () {
        const { open } = yield* Companies
        const { id: companyId } = yield* Effect.flatMap(open({ name: "Acme", plan: "paid" }), Answer.made)
        const { request } = yield* Adjustments
        const adjustment = { companyId, amount: Msat.fromSats(1), reason: "a gift", note: null, by: root }
        return yield* Effect.flatMap(request(adjustment), Answer.made)
      }).pipe(Effect.provideContext(before))
      const approved = (id: string) =>
        Effect.match(
          Effect.flatMap(Adjustments, ({ approve }) => approve(id, { id: "02", name: "Bob" })),
          { onSuccess: ({ status }) => status, onFailure: ({ _tag }) => _tag }
        )
      const [one, other] = [yield* ask, yield* ask]
      assert.notInclude(one.requestedById, old)
      assert.strictEqual(yield* Effect.provideContext(approved(one.id), again), "booked", "after a restart")
      assert.strictEqual(yield* Effect.provideContext(approved(other.id), after), "RequesterGone")
    })
  )
)
