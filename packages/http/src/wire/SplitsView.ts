import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Percent from "@satrail/core/base/Percent"
import { maxSplits, type Split } from "@satrail/core/receiving/Purpose"
import { Schema } from "effect"
import * as Member from "./Member.ts"
import * as Scalars from "./Scalars.ts"
import * as View from "./View.ts"

const share = "12.5%"

const Share = Scalars.text(share).check(
  Scalars.stated(
    (text: string) =>
      Percent.parse(text) === undefined
        ? `must be a percentage such as ${share}, from 0.01% to 100%, with at most two decimals`
        : undefined,
    { maxLength: 7, pattern: "^\\d{1,3}(\\.\\d{1,2})?%$" }
  )
)

const Given = Schema.Struct({ company_id: Scalars.GivenUuid, share: Share }).annotate({
  identifier: "GivenSplit"
})

/** Splits in a request. */
export const given = Scalars.given(
  Schema.Array(Given)
    .check(Schema.isMinLength(1))
    .check(Schema.isMaxLength(maxSplits).abort())
    .annotate({
      description: `Other accounts that get a share of what is received, at most ${maxSplits}. You keep the rest`
    })
)

/** Returns the splits that a request sets, or null if it sets none. A text that is not a percentage was rejected before. */
export const read = (rows: typeof given.Type | undefined): ReadonlyArray<Split> | null =>
  rows?.map(({ company_id, share }) => ({
    companyId: CompanyId.make(company_id),
    basisPoints: Percent.parse(share) ?? 0
  })) ?? null

/** Fields of a share. */
export const members = View.members<Split>()({
  company_id: Member.uuid((row) => row.companyId),
  share: [Scalars.text(share), (row) => Percent.format(row.basisPoints)]
})

const view = View.make<Split>()({ identifier: "Split" }, members)
const shown = Schema.NullOr(Schema.Array(view.schema))

/** Splits in a response. */
export const splits: View.Member<{ readonly splits: ReadonlyArray<Split> | null }, typeof shown> = [
  shown,
  (row) => row.splits?.map(view.of) ?? null
]
