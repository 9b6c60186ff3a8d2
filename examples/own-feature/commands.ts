import { Commands, type Feature } from "@satrail/service/commands"
import { Argument, Command } from "effect/cli"

const path = "/v1/boxes"
const box = Argument.String("box").pipe(Argument.withDescription("The box's id, or its beginning"))

const list = Command.make("list", { json: Commands.json }, ({ json }) =>
  Commands.list({ json, query: {} }, path, ["id", "label", "amount_sats", "status", "opens_at"])
).pipe(Command.withDescription("List boxes"))

const open = Commands.action(
  "open",
  box,
  "POST",
  (id) => `${path}/${encodeURIComponent(id)}/open`,
  "Take the money out of a box"
)

const boxes = Command.make("boxes").pipe(
  Command.withDescription("List and open a company's boxes, with its key in SATRAIL_API_KEY"),
  Command.withSubcommands([list, open])
)

export const commands: Feature = {
  commands: { "Company records": [boxes] },
  collections: { [path]: { noun: "box", isUnpaged: true } }
}
