import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import * as Section from "@satrail/http/api/Section"
import * as Deposits from "@satrail/http/resources/Deposits"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Member from "@satrail/http/wire/Member"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as SplitsView from "@satrail/http/wire/SplitsView"
import * as View from "@satrail/http/wire/View"
import * as Transfers from "../../transfers/http/Transfers.ts"
import { type Part, type Shared, Splits } from "../core/Splits.ts"

const part = View.make<Part>()(
  { identifier: "DepositSplit" },
  {
    ...SplitsView.members,
    amount_sats: Member.exactSats((row) => row.amount, "Amount that it received"),
    transfer_id: Member.uuidOrNull(
      (row) => row.transferId,
      "Its transfer; null if the deposit is not credited, the account was frozen, or the share is below 1 msat"
    )
  }
)

/** The shares of a deposit. */
export const view = View.make<Shared>()(
  { identifier: "DepositSplits" },
  {
    id: Member.uuid((row) => row.id, "The deposit's id"),
    company_id: Member.uuid((row) => row.companyId),
    splits: [Schema.Array(part.schema), (row) => row.parts.map(part.of)]
  }
)

const example = (world: World): Shared => {
  const { id, amount, recipientId } = Transfers.example(world)
  return {
    id: Deposits.example(world).id,
    companyId: world.companyId,
    parts: [{ companyId: recipientId, basisPoints: 1250, transferId: id, amount }]
  }
}

export const get = Section.company(
  HttpApiEndpoint.get("depositSplits", "/v1/transactions/deposits/:depositID/splits", {
    params: { depositID: Scalars.Id },
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Get a deposit's splits")
    .annotate(
      OpenApi.Description,
      "Returns the shares of a deposit, with the transfers that credited them. Requires the `read` scope."
    )
    .annotate(Example, (world) => ({
      params: { depositID: Deposits.example(world).id },
      message: "Splits",
      data: view.of(example(world))
    })),
  Splits,
  (splits) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(splits.ofDeposit(yield* companyId, params.depositID))
      return Envelope.ok("Splits", view.of(row))
    })
)
