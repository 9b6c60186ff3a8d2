import { Command, Flag } from "effect/cli"
import { Option } from "effect"
import { call, company, example, json, of } from "../client/CommandParts.ts"
import { CommandFailed } from "../base/CommandFailed.ts"

// What a company pays in place of what its plan says.

const base = (name: string, way: string) =>
  Flag.Finite(`${name}-base-sats`).pipe(Flag.withDescription(`What each costs ${way}, in sats to three decimals`), Flag.optional)
const share = (name: string, way: string) =>
  Flag.Int(`${name}-ppm`).pipe(Flag.withDescription(`The share of the amount ${way}, in parts per million`), Flag.optional)

/** The parts of a rate that are given, undefined where there are none. */
const rate = (base_sats: Option.Option<number>, parts_per_million: Option.Option<number>) =>
  Option.isNone(base_sats) && Option.isNone(parts_per_million)
    ? undefined
    : { base_sats: Option.getOrUndefined(base_sats), parts_per_million: Option.getOrUndefined(parts_per_million) }

export const fees = Command.make("fees").pipe(
  Command.withDescription("Show, set and clear what sending costs a company"),
  Command.withSubcommands([
    Command.make("show", { company, json }, ({ company, json }) => call({ json }, "GET", `${of(company)}/fees`)).pipe(
      Command.withDescription("Show what sending costs a company, and what of it is its own and not its plan's")
    ),
    Command.make(
      "set",
      {
        company,
        json,
        lightningBase: base("lightning", "over Lightning"),
        lightningShare: share("lightning", "over Lightning"),
        onChainBase: base("on-chain", "on-chain"),
        onChainShare: share("on-chain", "on-chain"),
        internalBase: base("internal", "to a company of this service"),
        internalShare: share("internal", "to a company of this service")
      },
      ({ company, json, ...given }) => {
        const body = {
          lightning: rate(given.lightningBase, given.lightningShare),
          on_chain: rate(given.onChainBase, given.onChainShare),
          internal: rate(given.internalBase, given.internalShare)
        }
        return Object.values(body).every((one) => one === undefined)
          ? new CommandFailed({ message: "Name a fee, such as --lightning-ppm 1000; `fees clear` takes all of them away" })
          : call({ json }, "PATCH", `${of(company)}/fees`, body)
      }
    ).pipe(
      Command.withDescription(
        "Set these fees of a company; what is not named stays. A fee has two parts: in a fee that the company did not have, the one not named is 0"
      ),
      example("fees set 01a1f768-1c70-748e-8579-81b7373e8599 --lightning-ppm 1000", "0.1 % over Lightning, for this company alone")
    ),
    Command.make("clear", { company, json }, ({ company, json }) => call({ json }, "PUT", `${of(company)}/fees`, {})).pipe(
      Command.withDescription("Have a company pay what its plan says")
    )
  ])
)
