import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Unfundable } from "@satrail/core/nodes/ChainWallet"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import { SignerUnavailable } from "@satrail/core/nodes/Signer"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Schema } from "effect"
import { deserialize, serialize } from "node:v8"

/** What a process asks of the network: a member of a port, with what it is called with. */
export interface Question {
  readonly port: string
  readonly member: string
  readonly args: ReadonlyArray<unknown>
}

/** How that ended over there. A failure travels as text, since an error loses its members on the way. */
export type Reply =
  | { readonly _tag: "Success"; readonly value: unknown }
  | { readonly _tag: "Failure"; readonly failure: string }
  | { readonly _tag: "Defect"; readonly message: string }

/** Every way in which a port of the network's can fail. */
export const Failure = Schema.fromJsonString(
  Schema.toCodecJson(
    Schema.Union([
      NodeUnavailable,
      ChainUnavailable,
      Unfundable,
      SignerUnavailable,
      RecipientRefused,
      RecipientUnreachable,
      Sandbox.SandboxRefused
    ])
  )
)

/** A value as bytes, bigints, sets and undefined included. */
export const toBytes = (value: Question | Reply): Uint8Array<ArrayBuffer> => new Uint8Array(serialize(value))

// Both ends are ours and of one version: what one wrote the other may trust.
export const questionOf = (bytes: Uint8Array): Question => deserialize(bytes) as Question
export const replyOf = (bytes: Uint8Array): Reply => deserialize(bytes) as Reply
