import { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { example, json, later } from "@satrail/http/commands/CommandParts"
import * as Triggers from "./Triggers.ts"

// Commands for developers. They use a company's API key, which is SATRAIL_API_KEY, or the key created by the
// last start.

const following = {
  after: Flag.String("after").pipe(
    Flag.withDescription("Resume after the event with this id; by default only new events are read"),
    Flag.optional
  ),
  types: Flag.String("types").pipe(
    Flag.withDescription(
      "Only these types, or prefixes such as deposit.*, separated by commas; all by default"
    ),
    Flag.optional
  ),
  json
}

export const forwardTo = Flag.String("forward-to").pipe(
  Flag.withDescription("The URL of your webhook handler, such as http://localhost:3000/webhooks; required"),
  Flag.filterMap(
    (text) => {
      const url = URL.parse(text)
      return url !== null && /^https?:$/.test(url.protocol) ? Option.some(url) : Option.none()
    },
    (text) => `Expected a URL such as http://localhost:3000/webhooks, got ${text}`
  )
)

export const listen = Command.make(
  "listen",
  { forwardTo, ...following },
  later(async () => (await import("./Events.ts")).listen)
).pipe(
  Command.withDescription(
    "Post the company's events to a URL as they happen, signed like webhooks. The command prints the signing secret. Each event is posted once, in order"
  ),
  Command.withShortDescription("Post the company's events to a URL, signed like webhooks"),
  example("listen --forward-to http://localhost:3000/webhooks", "Post events to a program on this machine")
)

export const events = Command.make("events").pipe(
  Command.withDescription("Read the events of a company"),
  Command.withSubcommands([
    Command.make(
      "tail",
      following,
      later(async () => (await import("./Events.ts")).tail)
    ).pipe(
      Command.withDescription(
        "Print the company's events as they happen, one per line. With --json, each line is the body of a webhook"
      ),
      example("events tail --types deposit.*", "Deposits only")
    )
  ])
)

const types = Triggers.all.map(({ type }) => type)

export const trigger = Command.make(
  "trigger",
  {
    type: Argument.Literals("type", [...types, ...Triggers.aliases.keys()]).pipe(
      Argument.withDescription("The type of event")
    ),
    amount: Flag.Int("amount-sats").pipe(
      Flag.withDescription("The amount of the payment; 1000 by default, 200000 on-chain"),
      Flag.optional
    ),
    json
  },
  later(async () => (await import("./Trigger.ts")).trigger)
).pipe(
  Command.withDescription(
    `Cause an event in the sandbox by creating the necessary records, and print it: ${types.join(", ")}. \`deposit.settled\` means deposit.lightning.completed`
  ),
  Command.withShortDescription("Trigger an event in the sandbox"),
  example("trigger deposit.settled", "An external wallet pays one of the company's invoices"),
  example("trigger checkout.paid --amount-sats 2500", "A checkout for 2500 sats is paid")
)

export const open = Command.make(
  "open",
  { json },
  later(async () => (await import("./Open.ts")).open)
).pipe(Command.withDescription("Print the console's address, and open it in a browser if run in a terminal"))
