import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Destination from "@satrail/core/sending/Destination"
import * as Instructions from "@satrail/core/sending/Instructions"
import * as Names from "@satrail/web/Names"
import { Clock, Console, Effect, Result } from "effect"
import * as Others from "../environment/Others.ts"
import { identity } from "../environment/Service.ts"
import { CommandFailed } from "../base/CommandFailed.ts"
import * as Output from "../client/Output.ts"

/** A name as it is written, with its ₿ or without, and where its record is. */
const named = Effect.fnUntraced(function* (text: string) {
  const address = yield* Effect.mapError(Effect.fromResult(LightningAddressText.parse(Destination.name(text.trim()))), Output.failed)
  const name = Instructions.nameOf(address)
  return name === undefined
    ? yield* new CommandFailed({ message: "A name in the DNS has labels of 1 to 63 characters." })
    : { address, name }
})

/** What the DNS says of a name by BIP353_RESOLVER, and what the service makes of it. */
export const lookup = Effect.fnUntraced(function* ({ name: text, json }: { readonly name: string; readonly json: boolean }) {
  const { address, name } = yield* named(text)
  const { validated } = Names.make({ validating: (yield* Others.settings.bip353Resolvers) ?? [] })
  if (validated === undefined) return yield* new CommandFailed({ message: "Set BIP353_RESOLVER: without it no name is looked up." })
  const found = yield* Effect.mapError(
    validated(name),
    () =>
      new CommandFailed({
        message: `No resolver of BIP353_RESOLVER gave an answer about ${name}: it is away, or the record is signed wrongly.`
      })
  )
  const uri = Instructions.uriOf(found)
  const made = Result.match(uri, {
    onFailure: (reason) => `refused: ${reason}`,
    onSuccess: (uri) => (uri === undefined ? `no record: ${address.address} may be a Lightning address` : `pays ${uri}`)
  })
  yield* Console.log(
    json
      ? JSON.stringify({ name, records: found.texts, is_signed: found.isSigned, result: made })
      : [`${name}  ${found.isSigned ? "signed" : "not signed"}`, ...found.texts.map((one) => `  ${one}`), made].join("\n")
  )
})

/** The line of a zone file with which wallets find an offer by a name (BIP 353). */
export const record = Effect.fnUntraced(function* ({ name: text, offer: given }: { readonly name: string; readonly offer: string }) {
  const { name } = yield* named(text)
  const { offer, networks, absoluteExpirySeconds } = yield* Effect.mapError(Effect.fromResult(Bolt12.decode(given)), Output.failed)
  const network = yield* identity.network
  if (!networks.includes(network))
    return yield* new CommandFailed({ message: `The offer is for ${networks.join(", ")}, and SATRAIL_NETWORK is ${network}.` })
  const leftSeconds = absoluteExpirySeconds === undefined ? Infinity : absoluteExpirySeconds - (yield* Clock.currentTimeMillis) / 1000
  // Who has looked it up just before it is exchanged goes on using it for its TTL.
  if (leftSeconds < Instructions.ttlSeconds)
    return yield* new CommandFailed({ message: "The offer has expired, or will before others forget the record." })
  yield* Console.log(Instructions.zoneLine(name, offer))
})
