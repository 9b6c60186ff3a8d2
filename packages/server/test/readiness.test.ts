import { assert, describe, it } from "@effect/vitest"
import * as Follower from "@satrail/chain/Follower"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import type { Progress } from "@satrail/core/nodes/Behind"
import { ChainSource, ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Looks, layer } from "@satrail/http/api/Readiness"
import { Effect, Layer, Option } from "effect"
import { PrometheusMetrics } from "effect/observability"
import * as ReadinessChecks from "../src/serving/ReadinessChecks.ts"

describe("ReadinessChecks.readiness", () => {
  it.effect(
    "readiness: a node that accepts only calls to receive, such as lnd with a revoked sender macaroon, fails the check `sender` alone",
    () =>
      Effect.gen(function* () {
        const found = yield* Effect.all([...(yield* Looks).values()])
        assert.deepStrictEqual(
          found.flatMap(({ name, isOptional, reason }) =>
            reason === undefined ? [] : [[name, isOptional, reason]]
          ),
          [["sender", true, "the node accepts no calls to send payments"]]
        )
      }).pipe(
        Effect.provide(
          Layer.provide(layer, ReadinessChecks.readiness({ chain: false }, Effect.succeed(true)))
        ),
        Effect.provide([
          Layer.mock(AccountReads, { company: () => Effect.succeedNone }),
          Layer.mock(LedgerReads, { cursor: () => Effect.succeedNone }),
          Layer.mock(LightningReceiver, {
            nodeId: "",
            network: "regtest",
            lookupInvoice: () => Effect.succeed({ _tag: "unknown" }),
            progress: Effect.succeedNone
          }),
          Layer.mock(LightningSender, {
            graceMillis: 0,
            lookupPayment: () => Effect.succeed({ _tag: "unknown" })
          }),
          Layer.mock(ChainSource, { tip: Effect.succeed({ height: 1, hash: "00" }) })
        ])
      )
  )

  const away = new ChainUnavailable({ operation: "tip", cause: "down" })
  for (const [what, progress, tip, lastRead, expected, isSimulated = false] of [
    ["is at the tip", { height: 175, isSynced: true }, 175, null, undefined],
    ["receives a new block", { height: 173, isSynced: true }, 175, null, undefined],
    ["is ahead of the chain's source", { height: 176, isSynced: true }, 175, null, undefined],
    ["reports no height", undefined, 175, null, undefined],
    ["lacks blocks", { height: 163, isSynced: true }, 175, null, "behind: block 163 of 175"],
    [
      "lacks blocks and is not synced",
      { height: 163, isSynced: false },
      175,
      null,
      "behind: block 163 of 175"
    ],
    ["is not synced", { height: 175, isSynced: false }, 175, null, "behind: block 175 of an unknown number"],
    [
      "lacks blocks that were read, while the chain is unavailable",
      { height: 163, isSynced: true },
      null,
      175,
      "behind: block 163 of 175"
    ],
    ["lacks blocks of a simulated chain", { height: 0, isSynced: true }, 175, null, undefined, true]
  ] as const satisfies ReadonlyArray<
    readonly [string, Progress | undefined, number | null, number | null, string | undefined, boolean?]
  >) {
    it.effect(
      `readiness: a Lightning node that ${what} is ${expected === undefined ? "ready" : "not ready, and the reason has both heights"}`,
      () =>
        Effect.gen(function* () {
          const found = yield* Effect.all([...(yield* Looks).values()])
          assert.strictEqual(found.find(({ name }) => name === "node")?.reason, expected)
          if (expected !== undefined && tip !== null && progress !== undefined)
            assert.match(
              yield* PrometheusMetrics.format(),
              new RegExp(`satrail_blocks_behind\\{node="lightning"\\} ${tip - progress.height}\n`)
            )
        }).pipe(
          Effect.provide(
            Layer.provide(layer, ReadinessChecks.readiness({ chain: isSimulated }, Effect.succeed(true)))
          ),
          Effect.provide([
            Layer.mock(AccountReads, { company: () => Effect.succeedNone }),
            Layer.mock(LedgerReads, {
              cursor: () =>
                Effect.succeed(
                  lastRead === null ? Option.none() : Option.some(Follower.cursorBefore(lastRead + 1))
                )
            }),
            Layer.mock(LightningReceiver, {
              nodeId: "",
              network: "regtest",
              lookupInvoice: () => Effect.succeed({ _tag: "unknown" }),
              progress: Effect.succeed(Option.fromNullishOr<Progress | undefined>(progress))
            }),
            Layer.mock(LightningSender, {
              graceMillis: 0,
              lookupPayment: () => Effect.succeed({ _tag: "unknown" })
            }),
            Layer.mock(ChainSource, {
              tip: tip === null ? Effect.fail(away) : Effect.succeed({ height: tip, hash: "00" })
            })
          ])
        )
    )
  }
})
