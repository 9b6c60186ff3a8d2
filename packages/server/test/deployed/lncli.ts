// The part of lncli that the guide uses: `bakemacaroon --root_key_id N --save_to FILE uri:…`, through lnd's REST interface
// with the owner's macaroon. lncli itself is not built here.
import * as LndRest from "@satrail/nodes/LndRest"
import { Effect, Redacted, Schema } from "effect"
import { readFileSync, writeFileSync } from "node:fs"

const [command, keyOption, key, fileOption, file = "", ...uris] = process.argv.slice(2)
if (command !== "bakemacaroon" || keyOption !== "--root_key_id" || fileOption !== "--save_to")
  throw new Error(`lncli: ${process.argv.slice(2).join(" ")} is not supported here`)
const given = (name: string) => process.env[name] ?? ""
const rest = LndRest.make({
  url: given("LND_URL"),
  certificateFile: given("LND_CERT"),
  macaroon: Redacted.make(readFileSync(given("LND_ADMIN"), "hex"))
})
const permissions = uris.map((uri) => ({ entity: "uri", action: uri.replace(/^uri:/, "") }))
const request = LndRest.post("/v1/macaroon", { permissions, root_key_id: key })
const { macaroon } = await Effect.runPromise(
  rest.ask("bake", request, Schema.Struct({ macaroon: Schema.String }))
)
writeFileSync(file, Buffer.from(macaroon, "hex"))
process.exit(0)
