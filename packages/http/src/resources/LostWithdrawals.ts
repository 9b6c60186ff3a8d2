import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as TxId from "@satrail/bitcoin/TxId"
import { scopes } from "@satrail/core/accounts/OperatorRequest"
import * as Core from "@satrail/core/sending/LostWithdrawals"
import { finalConfirmations } from "@satrail/core/sending/LostPayout"
import { claimableMillis } from "@satrail/core/sending/LostWithdrawal"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorCaller, OperatorScopes } from "../api/Authentication.ts"
import { bodyIsOptional } from "../api/Base.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Search from "../wire/Search.ts"
import * as Section from "../api/Section.ts"
import * as Withdrawals from "./Withdrawals.ts"

const path = "/operator/withdrawals/:id"
const params = { id: Scalars.Id }
const success = Envelope.success(200, Withdrawals.view.schema)
const errors = ["not_found", "withdrawal_not_lost", "node_unavailable", "store_unavailable"] as const
const weeks = claimableMillis / (7 * 86_400_000)

export const settle = Section.operator(
  HttpApiEndpoint.post("settleLostWithdrawal", `${path}/settle`, {
    params,
    payload: Schema.Struct({
      preimage: Search.hex32(
        "Preimage of the withdrawal's payment hash, which proves that the payee was paid"
      ),
      fee_sats: Scalars.givenSatsUpTo(Msat.max).annotate({
        description: "Routing fee in satoshis, with up to three decimals, at most the one held. If unknown, 0"
      })
    }).annotate({ identifier: "SettleLostWithdrawal" }),
    success,
    error: Errors.of("malformed", ...errors)
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "Settle a lost withdrawal")
    .annotate(
      OpenApi.Description,
      "Settles a withdrawal of kind `withdrawal_lost` whose payee was paid. Settling it twice has no further effect. Any other withdrawal returns `withdrawal_not_lost`."
    )
    .annotate(Example, (world) => {
      const { settled } = Withdrawals.example(world)
      return {
        params: { id: settled.id },
        body: { preimage: settled.preimage ?? "", fee_sats: 2.001 },
        message: "Withdrawal settled",
        data: Withdrawals.view.of(settled)
      }
    }),
  Core.LostWithdrawals,
  (lost) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const evidence = { preimage: Preimage.make(payload.preimage), networkFee: payload.fee_sats }
      return Envelope.ok(
        "Withdrawal settled",
        Withdrawals.view.of(yield* Errors.answered(lost.settle(params.id, evidence)))
      )
    })
)

const ReleaseBody = Schema.Struct({
  spent_by: Schema.optionalKey(
    Search.hex32(
      `Id of another wallet's transaction that spent the coins of an on-chain withdrawal, with at least ${finalConfirmations} confirmations`
    )
  )
}).annotate({ identifier: "ReleaseLostWithdrawal" })

export const release = Section.operator(
  HttpApiEndpoint.post("releaseLostWithdrawal", `${path}/release`, {
    params,
    payload: [ReleaseBody, Schema.Null],
    success,
    error: Errors.of("malformed", "another_operator_required", "chain_unavailable", ...errors)
  })
    .annotate(OperatorScopes, [scopes.release])
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(OpenApi.Summary, "Release a lost withdrawal")
    .annotate(
      OpenApi.Description,
      `Fails a withdrawal of kind \`withdrawal_lost\` whose payee was not paid, and returns its money to the company. Refused with \`withdrawal_not_lost\` until ${weeks} weeks after its invoice expired, because the payee may claim the payment until then. If the node has only lost the payment's result, the node's channels are checked again instead: refused while one of them may hold the payment. Such a release takes two operators: the first request is recorded and returns 403 \`another_operator_required\`, and the money is returned when another operator sends it again within 24 hours. An on-chain withdrawal requires \`spent_by\`, and is released with all others of its transaction. Releasing it twice has no further effect.`
    )
    .annotate(Example, (world) => {
      const { settled } = Withdrawals.example(world)
      const released = {
        ...settled,
        status: "failed",
        preimage: null,
        networkFee: null,
        paymentIndex: null,
        failure: "node_error"
      } as const
      return {
        params: { id: released.id },
        body: {},
        message: "Withdrawal released",
        data: Withdrawals.view.of(released)
      }
    }),
  Core.LostWithdrawals,
  (lost) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const spentBy = payload?.spent_by === undefined ? undefined : TxId.make(payload.spent_by)
      const released = lost.release(params.id, spentBy, yield* OperatorCaller)
      return Envelope.ok("Withdrawal released", Withdrawals.view.of(yield* Errors.answered(released)))
    })
)

/** Maximum number of other withdrawals that the transaction pays. */
const maxOthers = 1000

export const book = Section.operator(
  HttpApiEndpoint.post("bookLostPayout", `${path}/book`, {
    params,
    payload: Schema.Struct({
      tx_id: Search.hex32("Id of the transaction that paid the withdrawal. It must be in a block"),
      with: Schema.optionalKey(
        Schema.Array(Scalars.Id)
          .check(Schema.isMaxLength(maxOthers))
          .annotate({ description: "All other withdrawals that it pays. Default: none" })
      )
    }).annotate({ identifier: "BookLostPayout" }),
    success,
    error: Errors.of("malformed", "chain_unavailable", ...errors)
  })
    .annotate(OperatorScopes, ["all"])
    .annotate(OpenApi.Summary, "Book a payout that the database lacks")
    .annotate(
      OpenApi.Description,
      "Books a transaction of the wallet as the payout of a pending on-chain withdrawal, after a restored database has lost that it was sent. Refused with the reason unless the chain shows that it spends only coins of the wallet, and pays exactly the named withdrawals and at most one change to the wallet. They then settle like any other payout. Booking it twice has no further effect."
    )
    .annotate(Example, (world) => {
      const { settled } = Withdrawals.example(world)
      return {
        params: { id: settled.id },
        body: { tx_id: "ab".repeat(32) },
        message: "Payout booked",
        data: Withdrawals.view.of(settled)
      }
    }),
  Core.LostWithdrawals,
  (lost) =>
    Effect.fnUntraced(function* ({ params: { id }, payload }) {
      const booked = yield* Errors.answered(
        lost.book(TxId.make(payload.tx_id), [id, ...(payload.with ?? [])])
      )
      const own = booked.find((one) => one.id === id)
      return own === undefined
        ? yield* Effect.die("booked without the withdrawal")
        : Envelope.ok("Payout booked", Withdrawals.view.of(own))
    })
)
