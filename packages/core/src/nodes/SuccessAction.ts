import { Schema } from "effect"
import * as Characters from "../base/Characters.ts"

/** Maximum number of characters in a message or description (LUD-09, LUD-10). */
export const maxCharacters = 144

const Text = Schema.String.check(Characters.atMost(maxCharacters))

/**
 * Content that the payee's server wants shown to the payer after a successful payment (LUD-09, LUD-10). `aes`
 * is encrypted with the preimage.
 */
export const SuccessAction = Schema.Union([
  Schema.Struct({ tag: Schema.Literal("message"), message: Text }),
  Schema.Struct({ tag: Schema.Literal("url"), description: Text, url: Schema.String.check(Schema.isMaxLength(2048)) }),
  Schema.Struct({
    tag: Schema.Literal("aes"),
    description: Text,
    ciphertext: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]+={0,2}$/), Schema.isMaxLength(4096)),
    iv: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{22}==$/))
  })
])
export type SuccessAction = typeof SuccessAction.Type
