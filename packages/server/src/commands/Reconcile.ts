import { Console, Effect, Option, Schema } from "effect"
import * as Backlog from "./Backlog.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import { read } from "@satrail/http/commands/Client"
import * as Operator from "../client/Operator.ts"
import * as Output from "../client/Output.ts"

const Sats = Schema.Finite
const SatsOrNull = Schema.NullOr(Sats)
const Side = Schema.Struct({
  owned_sats: Sats,
  own_sats: SatsOrNull,
  ledger_sats: Sats,
  on_its_way_sats: Schema.Tuple([Sats, Sats]),
  unexplained_sats: Sats
})
const Answer = Schema.Struct({
  report: Schema.NullOr(
    Schema.Struct({
      reconciled_at: Schema.String,
      is_behind: Schema.Boolean,
      is_outdated: Schema.Boolean,
      assets_sats: Sats,
      liabilities_sats: Sats,
      node: Side,
      on_chain: Side,
      forwarding_sats: Sats,
      channel_costs_sats: Sats,
      accounts: Schema.Record(Schema.String, Sats),
      differences_by_cause: Schema.Record(Schema.String, Schema.Int),
      differences: Schema.Array(
        Schema.Struct({
          cause: Schema.String,
          about: Schema.String,
          ours_sats: SatsOrNull,
          theirs_sats: SatsOrNull,
          since: Schema.String
        })
      )
    })
  ),
  waiting: Backlog.Kinds
})

const sideRow = (name: string, one: typeof Side.Type) => [
  name,
  Output.sats(one.owned_sats),
  Output.sats(one.own_sats),
  Output.sats(one.ledger_sats),
  one.on_its_way_sats.join(" … "),
  Output.sats(one.unexplained_sats)
]

const forPeople = ({ report, waiting }: typeof Answer.Type, names: ReadonlyMap<string, string>): string => {
  const waitingTable = Backlog.forPeople(waiting, names)
  if (report === null) return waitingTable
  const found = report.differences.map((one) => [
    one.cause,
    Output.sats(one.ours_sats),
    Output.sats(one.theirs_sats),
    one.since,
    one.about
  ])
  return [
    `Reconciled at ${report.reconciled_at}${report.is_behind ? ", but the node and the chain have not been read completely yet" : ""}`,
    Output.table([
      ["", "owned", "equity", "ledger", "in flight", "unexplained"],
      sideRow("node", report.node),
      sideRow("on-chain", report.on_chain)
    ]),
    Output.table([
      ["assets", Output.sats(report.assets_sats)],
      ["liabilities", Output.sats(report.liabilities_sats)],
      ["forwarding income", Output.sats(report.forwarding_sats)],
      ["channel costs", Output.sats(report.channel_costs_sats)],
      ...Object.entries(report.accounts).map(([account, amount]) => [account, Output.sats(amount)])
    ]),
    waitingTable,
    ...(found.length === 0
      ? []
      : [Output.table([["difference", "ours", "theirs", "since", "about"], ...found])])
  ].join("\n\n")
}

/**
 * Shows the result of the last reconciliation. Exits with 2 if it found a discrepancy, or else with 3 if none ran
 * recently. Recent differences, which payments in flight may have caused, don't change the exit code.
 */
export const reconcile = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const { message, data } = yield* Operator.ask("GET", "/operator/reconciliation")
  const answer = yield* read(Answer, data)
  yield* Console.log(
    json ? JSON.stringify(data) : `${message}\n\n${forPeople(answer, yield* Backlog.namesOf(answer.waiting))}`
  )
  const { report } = answer
  if (report !== null && report.differences.length > 0) return yield* Output.somethingIsWrong
  if (report === null || report.is_outdated) yield* Output.nothingIsChecked
})

export const ownFunds = ({
  json,
  node,
  onChain
}: {
  readonly json: boolean
  readonly node: Option.Option<number>
  readonly onChain: Option.Option<number>
}) =>
  Option.isNone(node) && Option.isNone(onChain)
    ? Effect.fail(
        new CommandFailed({ message: "Nothing was changed. Set --node-sats N, --on-chain-sats N, or both." })
      )
    : Operator.call({ json }, "PATCH", "/operator/reconciliation/own-funds", {
        ...(Option.isSome(node) && { node_sats: node.value }),
        ...(Option.isSome(onChain) && { on_chain_sats: onChain.value })
      })
