import { Schema } from "effect"
import * as Characters from "../base/Characters.ts"
import { isText } from "../base/Metadata.ts"

/** Maximum number of characters in a message or description (LUD-09, LUD-10). */
export const maxCharacters = 144

// A text that PostgreSQL cannot store would make a withdrawal fail at each attempt, with its amount held.
const storable = Schema.makeFilter((text: string) =>
  isText(text) ? undefined : "must be well-formed text without NUL characters"
)

const Text = Schema.String.check(Characters.atMost(maxCharacters), storable)

/**
 * Content that the payee's server wants shown to the payer after a successful payment (LUD-09, LUD-10). `aes`
 * is encrypted with the preimage.
 */
export const SuccessAction = Schema.Union([
  Schema.Struct({ tag: Schema.Literal("message"), message: Text }),
  Schema.Struct({
    tag: Schema.Literal("url"),
    description: Text,
    url: Schema.String.check(Schema.isMaxLength(2048), storable)
  }),
  Schema.Struct({
    tag: Schema.Literal("aes"),
    description: Text,
    ciphertext: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]+={0,2}$/), Schema.isMaxLength(4096)),
    iv: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9+/]{22}==$/))
  })
])
export type SuccessAction = typeof SuccessAction.Type
