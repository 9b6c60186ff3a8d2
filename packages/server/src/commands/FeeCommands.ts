import { Command, Flag } from "effect/cli"
import { Option } from "effect"
import { action, call, company, example, json, of } from "@satrail/http/commands/CommandParts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"

// Commands for a company's custom fees, which override its plan's fees.

const base = (name: string, way: string) =>
  Flag.Finite(`${name}-base-sats`).pipe(
    Flag.withDescription(`Fixed fee for each withdrawal ${way}, in sats with up to three decimals`),
    Flag.optional
  )
const share = (name: string, way: string) =>
  Flag.Int(`${name}-ppm`).pipe(
    Flag.withDescription(`Fee for each withdrawal ${way}, in parts per million of the amount`),
    Flag.optional
  )

/** Returns the given parts of a rate; undefined if none is given. */
const rate = (base_sats: Option.Option<number>, parts_per_million: Option.Option<number>) =>
  Option.isNone(base_sats) && Option.isNone(parts_per_million)
    ? undefined
    : {
        base_sats: Option.getOrUndefined(base_sats),
        parts_per_million: Option.getOrUndefined(parts_per_million)
      }

export const fees = Command.make("fees").pipe(
  Command.withDescription("Show, set and clear a company's withdrawal fees"),
  Command.withSubcommands([
    action(
      "show",
      company,
      "GET",
      (company) => `${of(company)}/fees`,
      "Show a company's fees, and which of them override its plan's fees"
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
        internalBase: base("internal", "to another company of this service"),
        internalShare: share("internal", "to another company of this service")
      },
      ({ company, json, ...given }) => {
        const body = {
          lightning: rate(given.lightningBase, given.lightningShare),
          on_chain: rate(given.onChainBase, given.onChainShare),
          internal: rate(given.internalBase, given.internalShare)
        }
        return Object.values(body).every((one) => one === undefined)
          ? new CommandFailed({
              message:
                "No fee given. Set at least one, such as --lightning-ppm 1000. To remove all custom fees, run `fees clear`."
            })
          : call({ json }, "PATCH", `${of(company)}/fees`, body)
      }
    ).pipe(
      Command.withDescription(
        "Set a company's fees. Options you leave out are unchanged. A fee has a fixed part and a share of the amount. A part you leave out of a new fee is 0"
      ),
      example(
        "fees set 01a1f768-1c70-748e-8579-81b7373e8599 --lightning-ppm 1000",
        "0.1 % over Lightning, for this company only"
      )
    ),
    Command.make("clear", { company, json }, ({ company, json }) =>
      call({ json }, "PUT", `${of(company)}/fees`, {})
    ).pipe(Command.withDescription("Remove a company's custom fees, so that its plan's fees apply"))
  ])
)
