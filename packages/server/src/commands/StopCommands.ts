import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { action, call, company, example, json, listed, of, ofKey } from "@satrail/http/commands/CommandParts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"

// Commands that stop payments of all companies, of one company or key, or above a limit.

const what = Argument.Literals("what", ["sending", "receiving"]).pipe(
  Argument.withDescription("What to pause or resume")
)

export const pause = Command.make("pause", { json, what }, ({ json, what }) =>
  call({ json }, "POST", "/operator/pause", { what })
).pipe(
  Command.withDescription(
    "Pause sending or receiving for all companies. Withdrawals already confirmed stay queued; incoming payments are still credited"
  ),
  example("pause sending", "No process starts a payment until `satrail resume sending`")
)

export const resume = Command.make("resume", { json, what }, ({ json, what }) =>
  call({ json }, "POST", "/operator/resume", { what })
).pipe(Command.withDescription("Resume sending or receiving"))

export const paused = Command.make("paused", { json }, ({ json }) =>
  call({ json }, "GET", "/operator/pause")
).pipe(Command.withDescription("Show what is paused, and since when"))

export const freeze = Command.make(
  "freeze",
  {
    company,
    json,
    pending: Flag.Literals("pending", ["wait", "go_on"]).pipe(
      Flag.withDescription("What happens to confirmed withdrawals that have not started; wait by default"),
      Flag.withDefault("wait" as const)
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("The company sees it in its console; required"))
  },
  ({ company, json, ...body }) => call({ json }, "POST", `${of(company)}/freeze`, body)
).pipe(
  Command.withDescription("Freeze a company: it can read and receive, but not send"),
  example(
    'freeze 01a1f768-1c70-748e-8579-81b7373e8599 --reason "key stolen"',
    "Its vouchers cannot be claimed either"
  )
)

export const unfreeze = action(
  "unfreeze",
  company,
  "POST",
  (company) => `${of(company)}/unfreeze`,
  "Unfreeze a company. Waiting payments resume"
)

const most = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

/** The flags, named like the API's fields. */
const limitFlags = {
  per_withdrawal_sats: most(
    "per-withdrawal-sats",
    "Maximum amount of one withdrawal or voucher, including fees"
  ),
  hour_sats: most("hour-sats", "Maximum total within any hour, including fees"),
  day_sats: most("day-sats", "Maximum total within any 24 hours, including fees"),
  month_sats: most("month-sats", "Maximum total within any 30 days, including fees"),
  day_count: most("day-count", "Maximum number of withdrawals and vouchers within any 24 hours"),
  approval_above_sats: most(
    "approval-above-sats",
    "Withdrawals above this amount, including fees, wait until another key approves them; vouchers above it are refused"
  ),
  recipient_types: Flag.String("recipient-types").pipe(
    Flag.withDescription(
      "Only these destination types, separated by commas, such as lightning_invoice,lightning_address"
    ),
    Flag.map(listed),
    Flag.optional
  ),
  recipients: Flag.String("recipients").pipe(
    Flag.withDescription(
      "Only these Lightning addresses, LNURLs, BOLT 12 offers and bitcoin addresses, separated by commas; with this limit, vouchers are refused"
    ),
    Flag.map(listed),
    Flag.optional
  )
}

const whose = Argument.Literals("whose", ["company", "key"]).pipe(
  Argument.withDescription("What the limits apply to")
)
const id = Argument.String("id").pipe(
  Argument.withDescription("The company's id, or the key's id (the 12 characters in the middle of the key)")
)

const at = (whose: "company" | "key", id: string) => (whose === "company" ? of(id) : ofKey(id))

export const limits = Command.make("limits").pipe(
  Command.withDescription("Show, set and clear the sending limits of a company or an API key"),
  Command.withSubcommands([
    Command.make("show", { whose, id, json }, ({ id, json, whose }) =>
      call({ json }, "GET", whose === "company" ? `${of(id)}/limits` : ofKey(id))
    ).pipe(
      Command.withDescription("Show the limits, and how much of each remains"),
      example("limits show key 7Kq2mVx9TbZc", "Show what this key can still send today")
    ),
    Command.make("set", { whose, id, json, ...limitFlags }, ({ id, json, whose, ...given }) =>
      Object.values<Option.Option<unknown>>(given).every(Option.isNone)
        ? new CommandFailed({
            message:
              "No limit given. Set at least one, such as --day-sats 10000. To remove all limits, run `limits clear`."
          })
        : call({ json }, "PATCH", `${at(whose, id)}/limits`, given)
    ).pipe(
      Command.withDescription(
        "Set limits. They apply in every process when the command returns. Options you leave out are unchanged"
      ),
      example(
        "limits set key 7Kq2mVx9TbZc --day-sats 10000 --per-withdrawal-sats 2000",
        "Limit a key used by a program"
      )
    ),
    Command.make("clear", { whose, id, json }, ({ id, json, whose }) =>
      call({ json }, "PUT", `${at(whose, id)}/limits`, {})
    ).pipe(Command.withDescription("Remove all limits"))
  ])
)
