import { Argument, Command, Flag } from "effect/cli"
import { call, company, example, json, listed, of, ofKey } from "../client/CommandParts.ts"
import { CommandFailed } from "../base/CommandFailed.ts"

// What stops payments, of everybody, of one company or key, and beyond a limit.

const what = Argument.Literals("what", ["sending", "receiving"]).pipe(Argument.withDescription("For everybody"))

export const pause = Command.make("pause", { json, what }, ({ json, what }) => call({ json }, "POST", "/operator/pause", { what })).pipe(
  Command.withDescription("Pause sending or receiving for everybody. What was confirmed waits, what is paid is credited"),
  example("pause sending", "No payment begins in any process until `satrail resume sending`")
)

export const resume = Command.make("resume", { json, what }, ({ json, what }) => call({ json }, "POST", "/operator/resume", { what })).pipe(
  Command.withDescription("Resume what was paused")
)

export const paused = Command.make("paused", { json }, ({ json }) => call({ json }, "GET", "/operator/pause")).pipe(
  Command.withDescription("Show what is paused, and since when")
)

export const freeze = Command.make(
  "freeze",
  {
    company,
    json,
    pending: Flag.Literals("pending", ["wait", "go_on"]).pipe(
      Flag.withDescription("What becomes of withdrawals that were confirmed and have not begun; wait by default"),
      Flag.withDefault("wait" as const)
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("For operators; required"))
  },
  ({ company, json, ...body }) => call({ json }, "POST", `${of(company)}/freeze`, body)
).pipe(
  Command.withDescription("Freeze a company: its keys can read, and none of its money can leave"),
  example('freeze 01a1f768-1c70-748e-8579-81b7373e8599 --reason "key stolen"', "Its vouchers cannot be claimed either")
)

export const unfreeze = Command.make("unfreeze", { company, json }, ({ company, json }) =>
  call({ json }, "POST", `${of(company)}/unfreeze`)
).pipe(Command.withDescription("Let a frozen company go on"))

const most = (name: string, description: string) => Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

/** By their names on the wire. */
const limitFlags = {
  per_withdrawal_sats: most("per-withdrawal-sats", "The most that one withdrawal or voucher may come to, with fees"),
  hour_sats: most("hour-sats", "The most within any hour, with fees"),
  day_sats: most("day-sats", "The most within any 24 hours, with fees"),
  month_sats: most("month-sats", "The most within any 30 days, with fees"),
  day_count: most("day-count", "The most withdrawals and vouchers within any 24 hours"),
  approval_above_sats: most(
    "approval-above-sats",
    "What comes to more, with fees, waits until another key approves it; vouchers of more are refused"
  ),
  recipient_types: Flag.String("recipient-types").pipe(
    Flag.withDescription("Only these kinds of destination, separated by commas, such as lightning_invoice,lightning_address"),
    Flag.map(listed),
    Flag.optional
  ),
  recipients: Flag.String("recipients").pipe(
    Flag.withDescription("Only these Lightning addresses, LNURLs, BOLT 12 offers and bitcoin addresses, separated by commas; no vouchers"),
    Flag.map(listed),
    Flag.optional
  )
}

const whose = Argument.Literals("whose", ["company", "key"]).pipe(Argument.withDescription("Whose limits they are"))
const id = Argument.String("id").pipe(Argument.withDescription("The company's id, or the key's, the 12 characters in its middle"))

const at = (whose: "company" | "key", id: string) => (whose === "company" ? of(id) : ofKey(id))

export const limits = Command.make("limits").pipe(
  Command.withDescription("Show, set and clear what a company, or one of its keys, may send"),
  Command.withSubcommands([
    Command.make("show", { whose, id, json }, ({ id, json, whose }) =>
      call({ json }, "GET", whose === "company" ? `${of(id)}/limits` : ofKey(id))
    ).pipe(
      Command.withDescription("Show limits, and what is left of them now"),
      example("limits show key 7Kq2mVx9TbZc", "What this key may still send today")
    ),
    Command.make("set", { whose, id, json, ...limitFlags }, ({ id, json, whose, ...given }) => {
      const body = Object.fromEntries(
        Object.entries(given).flatMap(([name, value]) => (value._tag === "Some" ? [[name, value.value]] : []))
      )
      return Object.keys(body).length === 0
        ? new CommandFailed({ message: "Name a limit, such as --day-sats 10000; `limits clear` takes all of them away" })
        : call({ json }, "PATCH", `${at(whose, id)}/limits`, body)
    }).pipe(
      Command.withDescription("Set these limits, in every process from the answer on; what is not named stays"),
      example("limits set key 7Kq2mVx9TbZc --day-sats 10000 --per-withdrawal-sats 2000", "A key for a program")
    ),
    Command.make("clear", { whose, id, json }, ({ id, json, whose }) => call({ json }, "PUT", `${at(whose, id)}/limits`, {})).pipe(
      Command.withDescription("Take all limits away")
    )
  ])
)
