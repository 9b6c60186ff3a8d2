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

const ofFailure = ["status", "message", "data", "error"]
const ofError = ["doc_url", "request_id"]
const picked = (members: Json, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(names.flatMap((name) => (name in members ? [[name, members[name]]] : [])))
const omitted = (members: Json, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

/** Writes each error as an extension of a record with the fields that all errors with its status have. */
export const extendingFailures = (schemas: Json): Json => {
  const isFailure = (schema: unknown): schema is Json =>
    Object.keys(membersOf(schema)).join() === ofFailure.join() &&
    ofError.every((name) => name in membersOf(membersOf(schema)["error"]))
  const statusOf = (schema: Json) => String(objectIn(membersOf(schema), "status")["const"])
  const byStatus = Map.groupBy(Object.values(schemas).filter(isFailure), statusOf)
  const nameOf = (status: string) => `Failure${status}Fields`
  const bases = Array.from(byStatus).flatMap(([status, [first = {}, ...others]]) => {
    if (others.length < fewestMembers) return []
    const members = membersOf(first)
    const error = { type: "object", properties: picked(membersOf(members["error"]), ofError) }
    return [[nameOf(status), { type: "object", properties: { ...members, error }, required: ofFailure }]]
  })
  const names = new Set(bases.map(([name]) => name))
  const extended = mapValues(schemas, (schema) => {
    if (!isFailure(schema) || !names.has(nameOf(statusOf(schema)))) return schema
    const { type, properties: _, required: __, ...others } = schema
    const error = objectIn(membersOf(schema), "error")
    const own = { ...error, properties: omitted(membersOf(error), ofError) }
    return {
      ...others,
      allOf: [refTo("schemas", nameOf(statusOf(schema))), { type, properties: { error: own } }]
    }
  })
  return { ...Object.fromEntries(bases), ...extended }
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
