// Writes a record that has every field of another record as an extension of it.
import { isObject, type Json, listIn, mapValues, objectIn, refTo } from "../wire/Json.ts"

/** Minimum number of fields for which a reference is shorter than repeating the fields. */
const fewestMembers = 3

const membersOf = (schema: unknown): Json => objectIn(schema, "properties")

/** Returns whether every value of `more` is also a value of `base`. Both must allow fields that they do not name. */
const extendsBase = (more: Json, base: Json): boolean => {
  const [all, some] = [membersOf(more), membersOf(base)]
  return (
    Object.keys(some).length < Object.keys(all).length &&
    Object.entries(some).every(([name, member]) => JSON.stringify(all[name]) === JSON.stringify(member)) &&
    listIn(base, "required").every((name) => listIn(more, "required").includes(name))
  )
}

/** Returns the fields that all events have, as a record that each event extends; none if there are few events. */
export const eventFields = (schemas: Json): Json => {
  const [first, ...events] = Object.entries(schemas)
    .filter(([name]) => /.Event$/.test(name))
    .flatMap(([, schema]) => (isObject(schema) ? [membersOf(schema)] : []))
  if (first === undefined || events.length < fewestMembers) return {}
  const isCommon = ([name, member]: readonly [string, unknown]) =>
    events.every((each) => JSON.stringify(each[name]) === JSON.stringify(member))
  const properties = Object.fromEntries(Object.entries(first).filter(isCommon))
  return { EventFields: { type: "object", properties, required: Object.keys(properties) } }
}

/** Returns the schemas with a reference (`allOf`) to the largest record that each extends. */
export const extending = (schemas: Json): Json => {
  const records = Object.entries(schemas).filter(
    (entry): entry is [string, Json] =>
      isObject(entry[1]) &&
      entry[1]["type"] === "object" &&
      entry[1]["additionalProperties"] === undefined &&
      Object.keys(membersOf(entry[1])).length >= fewestMembers
  )
  const size = ([, schema]: readonly [string, Json]) => Object.keys(membersOf(schema)).length
  const bySize = records.toSorted((one, other) => size(other) - size(one))
  return mapValues(schemas, (schema) => {
    if (!isObject(schema)) return schema
    const [name, base] = bySize.find(([, each]) => extendsBase(schema, each)) ?? []
    if (name === undefined) return schema
    const own = Object.entries(membersOf(schema)).filter(([member]) => !(member in membersOf(base)))
    const required = listIn(schema, "required").filter((member) => !listIn(base, "required").includes(member))
    const { type, properties: _, required: __, ...others } = schema
    // Generators ignore fields beside a single reference.
    const more = { type, properties: Object.fromEntries(own), ...(required.length > 0 && { required }) }
    return { ...others, allOf: [refTo("schemas", name), more] }
  })
}
