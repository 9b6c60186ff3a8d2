import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { Unfundable } from "@satrail/core/nodes/ChainWallet"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import { SignerUnavailable } from "@satrail/core/nodes/Signer"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Schema } from "effect"
import { deserialize, serialize } from "node:v8"

/** A process's request to the network: the member of a port and its arguments. */
export interface Question {
  readonly port: string
  readonly member: string
  readonly args: ReadonlyArray<unknown>
}

/** The result of the call. A failure is sent as text because serialization drops an error's fields. */
export type Reply =
  | { readonly _tag: "Success"; readonly value: unknown }
  | { readonly _tag: "Failure"; readonly failure: string }
  | { readonly _tag: "Defect"; readonly message: string }

/** Every failure of the network's ports. */
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

/** Serializes a value, which may contain bigints, sets and undefined. */
export const toBytes = (value: Question | Reply): Uint8Array<ArrayBuffer> => new Uint8Array(serialize(value))

// Both ends run the same version of our code, so the data needs no validation.
export const questionOf = (bytes: Uint8Array): Question => deserialize(bytes) as Question
export const replyOf = (bytes: Uint8Array): Reply => deserialize(bytes) as Reply
