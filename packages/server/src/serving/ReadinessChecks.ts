import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Progress from "@satrail/chain/Progress"
import * as Behind from "@satrail/core/nodes/Behind"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Commits from "@satrail/postgres/journal/Commits"
import { Effect, Layer, Option } from "effect"
import type { Simulated } from "../deployment/Simulated.ts"

const noHash = PaymentHash.make("00".repeat(32))

/**
 * Provides the checks for `/readyz`: the store, the node and the chain respond and are not behind, the node accepts
 * calls to send, `isPrepared` is true, and `isStopping` is false. If the chain is simulated, a real node's height is not
 * compared with it.
 */
export const readiness = (
  simulated: Pick<Simulated, "chain">,
  isPrepared: Effect.Effect<boolean>,
  isStopping: Effect.Effect<boolean> = Effect.succeed(false)
) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const records = yield* AccountReads
      const commits = yield* Effect.serviceOption(Commits.Commits)
      const [receiver, sender] = [yield* LightningReceiver, yield* LightningSender]
      const chain = yield* ChainSource
      const lastRead = yield* Progress.lastRead
      /** Fails if the node answers, but has not read the blocks that the chain has. */
      const caughtUp = Effect.gen(function* () {
        if (simulated.chain) return
        const progress = receiver.progress === undefined ? Option.none() : yield* receiver.progress
        if (Option.isNone(progress)) return
        const tip = yield* Effect.option(chain.tip)
        const known = Option.isSome(tip) ? tip.value.height : yield* lastRead
        const reason = yield* Behind.lightning(progress.value, known)
        if (reason !== undefined)
          return yield* Effect.fail({
            reason,
            remedy: "Wait. If its height doesn't change, check its source of blocks."
          })
      })
      const written = Option.match(commits, { onNone: () => Effect.void, onSome: ({ check }) => check })
      return [
        { name: "store", check: Effect.andThen(written, records.company(CompanyId.operator)) },
        { name: "node", check: Effect.andThen(receiver.lookupInvoice(noHash), caughtUp) },
        { name: "chain", check: chain.tip },
        {
          name: "sender",
          isOptional: true,
          check: Effect.filterOrFail(
            sender.lookupPayment(noHash),
            ({ _tag }) => _tag !== "unknown",
            () => ({ reason: "the node accepts no calls to send payments" })
          )
        },
        {
          name: "started",
          isOurs: true,
          check: Effect.filterOrFail(
            isPrepared,
            (is) => is,
            () => ({ reason: "the process is starting" })
          )
        },
        {
          name: "running",
          isOurs: true,
          check: Effect.filterOrFail(
            isStopping,
            (is) => !is,
            () => ({ reason: "the process is being stopped" })
          )
        }
      ]
    })
  )
