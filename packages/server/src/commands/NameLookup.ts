import * as Destination from "@satrail/core/sending/Destination"
import * as Instructions from "@satrail/core/sending/Instructions"
import * as Dns from "@satrail/web/Dns"
import { Clock, Console, Effect, Result } from "effect"
import * as Others from "../environment/Others.ts"
import { identity } from "../environment/Service.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Output from "../client/Output.ts"

/** Parses a name, in any form in which it can be pasted, and returns it with the DNS name of its record. */
const named = Effect.fnUntraced(function* (text: string) {
  const address = yield* Effect.mapError(Effect.fromResult(Destination.nameIn(text)), Output.failed)
  const name = Instructions.nameOf(address)
  return name === undefined
    ? yield* new CommandFailed({ message: "The labels of a DNS name must have 1 to 63 characters." })
    : { address, name }
})

/** Looks up a name's DNS record at BIP353_RESOLVER and shows how the service interprets it. */
export const lookup = Effect.fnUntraced(function* ({
  name: text,
  json
}: {
  readonly name: string
  readonly json: boolean
}) {
  const { address, name } = yield* named(text)
  const { validated } = Dns.make({ validating: (yield* Others.settings.bip353Resolvers) ?? [] })
  if (validated === undefined)
    return yield* new CommandFailed({ message: "BIP353_RESOLVER is not set. Set it to look up names." })
  const found = yield* Effect.mapError(
    validated(name),
    () =>
      new CommandFailed({
        message: `No resolver in BIP353_RESOLVER could resolve ${name}: the resolvers are unreachable, or the record's signature is invalid.`
      })
  )
  const uri = Instructions.uriOf(found)
  const made = Result.match(uri, {
    onFailure: (reason) => `refused: ${reason}`,
    onSuccess: (uri) =>
      uri === undefined ? `no record: ${address.address} may be a Lightning address` : `pays ${uri}`
  })
  yield* Console.log(
    json
      ? JSON.stringify({ name, records: found.texts, is_signed: found.isSigned, result: made })
      : [
          `${name}  ${found.isSigned ? "signed" : "not signed"}`,
          ...found.texts.map((one) => `  ${one}`),
          made
        ].join("\n")
  )
})

/** Prints the zone-file line that lets wallets find an offer by a name (BIP 353). */
export const record = Effect.fnUntraced(function* ({
  name: text,
  offer: given
}: {
  readonly name: string
  readonly offer: string
}) {
  const { name } = yield* named(text)
  const { offer, networks, absoluteExpirySeconds } = yield* Effect.mapError(
    Effect.fromResult(Destination.offerIn(given)),
    Output.failed
  )
  const network = yield* identity.network
  if (!networks.includes(network))
    return yield* new CommandFailed({
      message: `The offer is for ${networks.join(", ")}, but SATRAIL_NETWORK is ${network}.`
    })
  const leftSeconds =
    absoluteExpirySeconds === undefined
      ? Infinity
      : absoluteExpirySeconds - (yield* Clock.currentTimeMillis) / 1000
  // A wallet that looked the record up just before its removal keeps using it until its TTL ends.
  if (leftSeconds < Instructions.ttlSeconds)
    return yield* new CommandFailed({
      message: "The offer has expired, or will expire before the record leaves DNS caches."
    })
  yield* Console.log(Instructions.zoneLine(name, offer))
})
