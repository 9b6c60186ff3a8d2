import * as OpenApi from "@satrail/testing/OpenApi"
import type { Random } from "@satrail/testing/Random"

// Generates values that a document's schema allows. The bounds occur more often than values between them.

// oxlint-disable-next-line typescript/no-explicit-any -- a schema is read by its names, as by a client generator
type Any = any

/** Marks a schema for which no value can be generated, so that it needs an example. */
export const none = Symbol("none")

const texts = (least: number, most: number) => [
  "",
  "a",
  "Order 1042",
  "ü😀",
  " a ",
  "a\nb",
  "example.com",
  "https://shop.example/x",
  "1.5",
  "en",
  "0".repeat(64),
  "aA0=",
  "a".repeat(least),
  "a".repeat(most),
  "😀".repeat(most)
]

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value

/** Returns whether an object has the fields that one alternative of its schema requires. */
const holds = ({ required = [], properties = {} }: Any, value: Any): boolean =>
  required.every((name: string) => name in value) &&
  Object.entries<Any>(properties).every(
    ([name, { type }]) =>
      !(name in value) || type === undefined || [type].flat().includes(typeOf(value[name]))
  )

const meets = (schema: Any, value: Any): boolean =>
  Object.entries<Any>(schema.dependentRequired ?? {}).every(
    ([name, needed]) => !(name in value) || needed.every((other: string) => other in value)
  ) &&
  (schema.allOf ?? []).every((one: Any) => meets(one, value)) &&
  (schema.type === undefined ||
    schema.anyOf === undefined ||
    schema.anyOf.some((one: Any) => holds(one, value)))

/** Generates values for schemas, in an order determined by the random numbers. */
export const make = (random: Random, resolve: OpenApi.Document["resolve"]) => {
  const flat = (given: Any): Any => {
    const schema: Any = resolve(given)
    return schema.allOf === undefined
      ? schema
      : Object.assign({}, { ...schema, allOf: undefined }, ...schema.allOf.map(flat))
  }

  const number = (schema: Any, step: number): number => {
    const least =
      schema.minimum ?? (schema.exclusiveMinimum === undefined ? -5 : schema.exclusiveMinimum + step)
    const most =
      schema.maximum ?? (schema.exclusiveMaximum === undefined ? 1e15 : schema.exclusiveMaximum - step)
    return random.pick([least, most, Math.min(most, least + step), Math.min(most, least + 100)])
  }

  const text = ({ format, minLength = 0, maxLength = 300, pattern, examples = [] }: Any): unknown => {
    if (format === "uuid") return "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
    if (format === "date-time") return "2100-01-01T00:00:00Z"
    const fitting = [...texts(minLength, maxLength), ...examples].filter((one: string) => {
      const { length } = [...one]
      return (
        length >= minLength &&
        length <= maxLength &&
        (pattern === undefined || new RegExp(pattern, "u").test(one))
      )
    })
    return fitting.length === 0 ? none : random.pick(fitting)
  }

  const list = ({ items = {}, minItems = 0, maxItems = 3, uniqueItems }: Any): unknown => {
    const all = Array.from(
      { length: random.between(minItems, Math.max(minItems, Math.min(maxItems, 3))) },
      () => value(items)
    )
    const known = all.filter((one) => one !== none)
    return uniqueItems === true ? [...new Set(known)] : known
  }

  const object = ({ properties = {}, required = [], additionalProperties, propertyNames }: Any): unknown => {
    const wanted = Object.entries<Any>(properties).filter(
      ([name]) => required.includes(name) || random.chance(0.45)
    )
    const members = wanted.map(([name, schema]) => [name, value(schema)] as const)
    if (members.some(([name, one]) => one === none && required.includes(name))) return none
    const more =
      OpenApi.isObject(additionalProperties) && random.chance(0.7)
        ? [[propertyName(propertyNames), value(additionalProperties)]]
        : []
    return Object.fromEntries([...members, ...more].filter(([, one]) => one !== none))
  }
  const propertyName = ({ maxLength = 3 }: Any = {}) => random.pick(["a", "ü", "😀".repeat(maxLength)])

  const once = (given: Any): unknown => {
    const schema = flat(given)
    const others = OpenApi.alternatives(schema)
    if (others.length > 0) {
      const { anyOf: _, oneOf: __, ...rest } = schema
      const one = flat(random.pick(others))
      const properties = { ...rest.properties, ...one.properties }
      const required = [...(rest.required ?? []), ...(one.required ?? [])]
      return value({ ...rest, ...one, ...(Object.keys(properties).length > 0 && { properties, required }) })
    }
    if (schema.enum !== undefined) return random.pick(schema.enum)
    if ("const" in schema) return schema.const
    switch (Array.isArray(schema.type) ? random.pick(schema.type) : schema.type) {
      case "null":
        return null
      case "boolean":
        return random.chance(0.5)
      case "integer":
        return number(schema, 1)
      case "number":
        return number(schema, 0.0001)
      case "string":
        return text(schema)
      case "array":
        return list(schema)
      default:
        return object(schema)
    }
  }

  const value = (given: Any): unknown => {
    for (let tries = 0; tries < 200; tries++) {
      const one = once(given)
      const isWhole = !OpenApi.isObject(one) || Object.keys(one).length >= (flat(given).minProperties ?? 0)
      if (isWhole && (!OpenApi.isObject(one) || meets(resolve(given), one))) return one
    }
    return none
  }
  return value
}
