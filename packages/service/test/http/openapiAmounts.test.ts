import { assert, it } from "@effect/vitest"
import { Api } from "../../src/http/Api.ts"
import { documents } from "../../src/http/pages/Docs.ts"
import { format } from "@satrail/http/wire/Scalars"

/** Every field that is a number and not an amount in satoshis. */
const others = new Set(
  [
    "active api_keys attempts canceled claims closing column count day_count days_left deposits duration_ms events_lag_seconds",
    "expiry_seconds fee_microsats force_closing inactive lag_seconds late line offset opening overlap_seconds parts_per_million",
    "response_status reversals seq status success_probability tolerance_percent unconfirmed voided_links withdrawals"
  ].flatMap((line) => line.split(" "))
)

interface Schema {
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
}

const formats: ReadonlyArray<string> = Object.values(format)
const isNumber = ({ type = "", anyOf = [] }: Schema): boolean =>
  /number|integer/.test(String(type)) || anyOf.some(isNumber)
const isAmount = ({ format: own = "", anyOf = [] }: Schema): boolean =>
  formats.includes(own) || anyOf.some(isAmount)

const isOpenText = ({ type, enum: choices, anyOf = [] }: Schema): boolean =>
  (type === "string" && choices === undefined) || anyOf.some(isOpenText)

/** Returns the fields of all schemas in a document. */
const fieldsIn = (value: unknown): ReadonlyArray<readonly [name: string, schema: Schema]> => {
  if (typeof value !== "object" || value === null) return []
  const { properties = {} }: Schema = value
  return [...Object.entries(properties), ...Object.values(value).flatMap(fieldsIn)]
}

for (const [name, document] of Object.entries(documents(Api, { network: "regtest" }))) {
  it(`openapi: every number in the document for the ${name} declares that it is an amount, or is listed as another number`, () => {
    const numbers = fieldsIn(document).filter(([, schema]) => typeof schema === "object" && isNumber(schema))
    const undeclared = numbers.filter(([field, schema]) => !isAmount(schema) && !others.has(field))
    assert.deepStrictEqual([...new Set(undeclared.map(([field]) => field))], [])
    assert.includeMembers(
      numbers.filter(([, schema]) => isAmount(schema)).map(([field]) => field),
      ["balance", "fee_sats", "day_sats"]
    )
  })
}

for (const [name, document] of Object.entries(documents(Api, { network: "regtest" })))
  it(`openapi: every currency in the document for the ${name} lists its values, from which generators make a type`, () => {
    const open = fieldsIn(document).filter(
      ([field, schema]) => field.endsWith("currency") && typeof schema === "object" && isOpenText(schema)
    )
    assert.deepStrictEqual(open, [])
  })
