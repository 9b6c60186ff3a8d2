// Moves repeated parts of an OpenAPI document into components. The framework repeats every response,
// parameter and schema where it is used.
import { eventFields, extending } from "./Extending.ts"
import {
  isObject,
  type Json,
  type Kind,
  listIn,
  mapOperations,
  mapValues,
  objectIn,
  refTo
} from "../wire/Json.ts"

const schemaPrefix = "#/components/schemas/"
/** Returns the component that a schema refers to; undefined for an inline schema. */
const referred = (schema: unknown): string | undefined => {
  const ref = isObject(schema) ? schema["$ref"] : undefined
  return typeof ref === "string" && ref.startsWith(schemaPrefix) ? ref.slice(schemaPrefix.length) : undefined
}

const pascal = (text: string): string =>
  text
    .split(/[^a-z\d]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")

/**
 * Applies `f` to every object inside `value`, innermost first. Values of `example` and `examples` are data
 * and stay unchanged.
 */
const rewrite = (value: unknown, f: (object: Json) => Json): unknown => {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, f))
  if (!isObject(value)) return value
  return f(
    mapValues(value, (member, name) =>
      name === "example" || name === "examples" ? member : rewrite(member, f)
    )
  )
}
const rewriteAll = (document: Json, f: (object: Json) => Json): Json =>
  mapValues(document, (member) => rewrite(member, f))

/** Returns the names of all schemas reachable from a value. */
export const reachable = (value: unknown, schemas: Json): ReadonlySet<string> => {
  const found = new Set<string>()
  const look = (part: unknown): void => {
    for (const [, name = ""] of (JSON.stringify(part) ?? "").matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      look(schemas[name])
    }
  }
  look(value)
  return found
}

export const operationsOf = (document: Json): ReadonlyArray<Json> =>
  Object.values(objectIn(document, "paths")).flatMap((path) =>
    isObject(path) ? Object.values(path).filter(isObject) : []
  )

/**
 * Replaces an enumeration of one value with `const`. Generators read that as a literal instead of making a
 * new type.
 */
const constant = (schema: Json): Json => {
  const [only, ...more] = listIn(schema, "enum")
  if (only === undefined || more.length > 0) return schema
  const { enum: _, ...others } = schema
  return { ...others, ...(Number.isInteger(only) && { type: "integer" }), const: only }
}

/** Writes a constant text in a union as an enumeration, because clients generated for Python take no other value with it. */
const withoutConstantInUnion = (schema: Json): Json => {
  if (!("anyOf" in schema)) return schema
  const anyOf = listIn(schema, "anyOf").map((one) => {
    if (!isObject(one) || typeof one["const"] !== "string") return one
    const { const: only, ...others } = one
    return { ...others, enum: [only] }
  })
  return { ...schema, anyOf }
}

const withoutExamples = ({ examples: _, ...schema }: Json): Json => schema

/** Drops examples of strings whose format already describes them. */
const withoutPlainExample = (schema: Json): Json =>
  schema["format"] === "uuid" || schema["format"] === "date-time" ? withoutExamples(schema) : schema

/** Replaces a union of one schema with that schema. */
const withoutUnionOfOne = (schema: Json): Json => {
  const [only, ...more] = listIn(schema, "anyOf")
  if (!isObject(only) || more.length > 0) return schema
  const { anyOf: _, ...others } = schema
  return { ...only, ...others }
}

/** Writes a nullable plain type as a list of two types instead of a union of two schemas. */
const nullable = (schema: Json): Json => {
  const [one, other, ...more] = listIn(schema, "anyOf")
  if (!isObject(one) || !isObject(other) || more.length > 0 || other["type"] !== "null") return schema
  if (typeof one["type"] !== "string" || "enum" in one || "const" in one) return schema
  const { anyOf: _, ...others } = schema
  return { ...one, type: [one["type"], "null"], ...others }
}

/** Drops the bounds of integers that JSON represents exactly, because they are implied. */
const withoutWidestBounds = (schema: Json): Json =>
  Object.fromEntries(
    Object.entries(schema).filter(
      ([name, value]) =>
        !/^(?:min|max)imum$/.test(name) || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER
    )
  )

/** Returns a schema without its description. */
const bare = ({ description: _, ...others }: Json): string => JSON.stringify(others)

/**
 * The framework numbers schemas that have the same identifier but different descriptions: `FeeRate_1` is
 * `FeeRate` with a description next to the reference. Schemas that differ otherwise keep their numbers, which a
 * test detects.
 */
const unnumbered = (document: Json): Json => {
  const schemas = objectIn(objectIn(document, "components"), "schemas")
  const kept = new Map<string, Json>()
  const instead = new Map<string, Json>()
  for (const [name, schema] of Object.entries(schemas))
    if (isObject(schema) && !/_\d+$/.test(name)) kept.set(name, schema)
  for (const [name, schema] of Object.entries(schemas)) {
    const base = name.replace(/_\d+$/, "")
    if (!isObject(schema) || base === name) continue
    const original = kept.get(base) ?? schema
    if (bare(original) !== bare(schema)) {
      kept.set(name, schema)
      continue
    }
    kept.set(base, original)
    const { description } = schema
    instead.set(name, {
      ...refTo("schemas", base),
      ...(description !== original["description"] && { description })
    })
  }
  const replaced = rewriteAll(document, (object) => {
    const found = instead.get(referred(object) ?? "")
    return found === undefined
      ? object
      : { ...found, ...(object["description"] !== undefined && { description: object["description"] }) }
  })
  const rewritten = objectIn(objectIn(replaced, "components"), "schemas")
  return {
    ...replaced,
    components: {
      ...objectIn(replaced, "components"),
      schemas: Object.fromEntries(
        [...kept.keys()].map((name) => [
          name,
          rewritten[name] ??
            rewrite(kept.get(name), (object) => instead.get(referred(object) ?? "") ?? object)
        ])
      )
    }
  }
}

/**
 * Request bodies are decoded strictly, as `additionalProperties: false` states. Responses and events can get
 * new fields, so their schemas stay open and validating clients keep working.
 */
const withOpenAnswers = (document: Json): Json => {
  const open = (value: unknown) =>
    rewrite(value, (object) => {
      const { additionalProperties, ...others } = object
      return withoutWidestBounds(nullable(additionalProperties === false ? others : object))
    })
  // Drop the fields' examples, because every operation has an example of its whole response.
  const answered = (schema: unknown) =>
    rewrite(open(schema), (object) =>
      "properties" in object || typeof object["type"] === "string" ? withoutExamples(object) : object
    )
  const schemas = objectIn(objectIn(document, "components"), "schemas")
  const asked = reachable(
    operationsOf(document).map(({ requestBody, parameters }) => [requestBody, parameters]),
    schemas
  )
  return {
    ...mapOperations(document, (operation) => ({ ...operation, responses: open(operation["responses"]) })),
    components: {
      ...objectIn(document, "components"),
      schemas: mapValues(schemas, (schema, name) => (asked.has(name) ? schema : answered(schema)))
    }
  }
}

const itemOf = (schema: unknown) =>
  isObject(schema) && schema["type"] === "array" ? referred(schema["items"]) : undefined

/** Returns the component name of the record in an envelope. */
const recordOf = (schema: Json): string | undefined => {
  const { data } = objectIn(schema, "properties")
  return referred(data) ?? itemOf(data)
}

/** Names an envelope after its record: `VoucherResponse`, or `VoucherListResponse` for a list. */
const envelopeOf = (schema: Json): string | undefined => {
  const properties = objectIn(schema, "properties")
  const record = recordOf(schema)
  if (record === undefined) return undefined
  const isCreated = objectIn(properties, "status")["const"] === 201
  return `${record}${"items" in objectIn(properties, "data") ? "List" : ""}${isCreated ? "Created" : ""}Response`
}

const jsonOf = (response: unknown) => objectIn(objectIn(response, "content"), "application/json")

/** Returns the component names of a response's error codes. */
const codesOf = (response: unknown): ReadonlyArray<string> => {
  const schema = jsonOf(response)["schema"]
  const all = isObject(schema) && Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [schema]
  return all.flatMap((one) => referred(one) ?? []).toSorted()
}

const phrases: Readonly<Record<string, string>> = {
  400: "BadRequest",
  403: "Forbidden",
  422: "Unprocessable",
  503: "ServiceUnavailable"
}

/** Returns the most common set of error codes for each status, which is what middleware adds to most operations. */
const usualCodes = (operations: ReadonlyArray<Json>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const counts = new Map<string, Map<string, number>>()
  for (const operation of operations)
    for (const [status, response] of Object.entries(objectIn(operation, "responses"))) {
      const codes = codesOf(response).join(" ")
      const found = counts.get(status) ?? new Map<string, number>()
      counts.set(status, found.set(codes, (found.get(codes) ?? 0) + 1))
    }
  return new Map(
    [...counts].map(([status, found]) => {
      const [most = ["", 0]] = [...found].toSorted(([, one], [, other]) => other - one)
      return [status, most[0] === "" ? [] : most[0].split(" ")]
    })
  )
}

/** Names a response after its codes: `NotFound`, `Forbidden`, `CompanyFrozenOrForbidden`. */
const responseName = (status: string, codes: ReadonlyArray<string>, usual: ReadonlyArray<string>): string => {
  const special = codes.filter((code) => !usual.includes(code))
  const isWhole = usual.every((code) => codes.includes(code))
  if (codes.length === 1 || !isWhole || usual.length === 0) return codes.join("Or")
  return [...special, usual.length === 1 ? usual.join("") : (phrases[status] ?? `Status${status}`)].join("Or")
}

/** Statuses that any request can return. They are documented once, in the `default` response. */
const ofAnyRequest = ["408", "413", "415", "417", "431", "500"]

/** Statuses that any request with a credential can return. */
const ofAnyCredential = ["401", "403", "429", "503"]

const isOfCaller = (responses: Json): boolean => ofAnyCredential.every((status) => status in responses)

/**
 * Returns the statuses that any request with a credential can return, and others that every such operation of the
 * document has. An operation with more codes than usual lists them itself.
 */
const ofAnyCallerIn = (operations: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const all = operations.map((operation) => objectIn(operation, "responses")).filter(isOfCaller)
  const others = ["400", "404"].filter((status) => all.every((responses) => status in responses))
  return [...ofAnyCredential, ...others]
}

/** Description of a response with several codes. Each code is explained in its schema. */
const oneOf = (codes: ReadonlyArray<string>) => `One of these errors: ${codes.join(", ")}`

const errorOf = (description: string, codes: ReadonlyArray<string>) => ({
  description,
  content: { "application/json": { schema: { anyOf: codes.map((code) => refTo("schemas", code)) } } }
})

// Maximum length of a response's name. A longer one would be used by only one or two operations, which keep the
// response inline.
const maxNameCharacters = 60

/** Collects components by name. A value that differs from the component with its name stays inline. */
const collected = () => {
  const found = new Map<string, unknown>()
  return {
    found,
    add: (kind: Kind, name: string, value: unknown) => {
      const known = found.get(name)
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value)) return value
      found.set(name, value)
      return refTo(kind, name)
    }
  }
}

const counted = (values: ReadonlyArray<unknown>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(JSON.stringify(value), (counts.get(JSON.stringify(value)) ?? 0) + 1)
  return counts
}

/**
 * Returns a parameter without `required: false`, which is the default, without examples, and without a schema
 * description that repeats the parameter's own.
 */
const parameterOf = ({ required, ...parameter }: Json): Json => {
  const { description, examples: _, ...others } = objectIn(parameter, "schema")
  return {
    ...parameter,
    ...(required === true && { required }),
    schema: parameter["description"] === description ? others : { ...others, description }
  }
}

/** Names a parameter: `Cursor` in a query, with the preceding path segment in a path (`VouchersId`). */
const parameterName = ({ name, in: place }: Json, path: string): string => {
  const [before = ""] = path.split(`/{${String(name)}}`)
  return pascal(place === "path" ? `${before.split("/").at(-1) ?? ""} ${String(name)}` : String(name))
}

const replayed = {
  description: "`true` if this is the stored response to an earlier request with the same key",
  schema: { type: "string", const: "true" }
}
const retryAfter = {
  description: "Seconds to wait before the next attempt, with 429 and 503",
  schema: { type: "integer" }
}

/** Returns a response's own headers, and those that every such response has. */
const headersOf = (response: Json, status: string, isOnce: boolean): Json => ({
  ...objectIn(response, "headers"),
  ...(isOnce && status === "201" && { "idempotency-replayed": replayed }),
  ...(["429", "503", "default"].includes(status) && { "retry-after": retryAfter })
})

/** Returns the document with repeated parts as components, named after identifiers and codes, in steps. */
export function* shared(given: Json): Generator<void, Json> {
  const plain = rewriteAll(given, (object) =>
    withoutConstantInUnion(withoutUnionOfOne(withoutPlainExample(constant(object))))
  )
  yield
  const numberless = unnumbered(plain)
  yield
  const document = withOpenAnswers(numberless)
  yield
  const operations = operationsOf(document)
  const usual = usualCodes(operations)
  const ofAnyCaller = ofAnyCallerIn(operations)
  const parametersIn = (operation: Json) => listIn(operation, "parameters").filter(isObject).map(parameterOf)
  const parameterCounts = counted(operations.flatMap(parametersIn))
  const [schemas, responses, parameters, headers] = [collected(), collected(), collected(), collected()]
  const examples = new Map<string, unknown>()

  const headed = (response: Json, status: string, isOnce = false): Json => {
    const named = mapValues(headersOf(response, status, isOnce), (header, name) =>
      headers.add("headers", pascal(name), header)
    )
    return { ...response, ...(Object.keys(named).length > 0 && { headers: named }) }
  }
  const successOf = (response: Json): Json => {
    const content = mapValues(objectIn(response, "content"), (media) => {
      const schema = objectIn(media, "schema")
      const name = envelopeOf(schema)
      if (!isObject(media) || name === undefined) return media
      // Move the example to the record, where it serves all responses and events that contain the record.
      const { examples: own, ...others } = media
      const { data } = objectIn(objectIn(own, "default"), "value")
      const [record, example] = [recordOf(schema), Array.isArray(data) ? data[0] : data]
      if (record !== undefined && !examples.has(record) && example !== undefined)
        examples.set(record, example)
      return { ...others, schema: schemas.add("schemas", name, schema) }
    })
    return { ...response, description: "OK", content }
  }
  const responseOf = (response: unknown, status: string, isOnce: boolean): unknown => {
    if (!isObject(response)) return response
    if (Number(status) < 300) return headed(successOf(response), status, isOnce)
    const codes = codesOf(response)
    const said = headed(codes.length > 1 ? errorOf(oneOf(codes), codes) : response, status)
    const name = responseName(status, codes, usual.get(status) ?? [])
    return name === "" || name.length > maxNameCharacters ? said : responses.add("responses", name, said)
  }
  const responsesOf = (all: Json, isOnce: boolean): Json => {
    const shownOf = (some: Json) =>
      mapValues(some, (response, status) => responseOf(response, status, isOnce))
    if (!ofAnyRequest.every((status) => status in all)) return shownOf(all)
    const isCaller = isOfCaller(all)
    const isUsual = (status: string) =>
      isCaller && ofAnyCaller.includes(status) && `${codesOf(all[status])}` === `${usual.get(status)}`
    const unusual = Object.entries(all).filter(
      ([status]) => !ofAnyRequest.includes(status) && !isUsual(status)
    )
    // Linters require each operation to list a 4XX response.
    const isRefused = unusual.some(([status]) => status.startsWith("4"))
    const own = isRefused
      ? unusual
      : [...unusual, ...Object.entries(all).filter(([status]) => status === "400")]
    const anyRequest = ofAnyRequest.flatMap((status) => codesOf(all[status]))
    const anyCaller = ofAnyCaller.flatMap((status) => usual.get(status) ?? [])
    const [name, general] = isCaller
      ? [
          "Default",
          errorOf("Errors that any request with a credential can return", [...anyCaller, ...anyRequest])
        ]
      : ["DefaultWithoutCredential", errorOf("Errors that any request can return", anyRequest)]
    return {
      ...shownOf(Object.fromEntries(own)),
      default: responses.add("responses", name, headed(general, "default"))
    }
  }
  const paths = mapOperations(document, (operation, path) => ({
    ...operation,
    responses: responsesOf(
      objectIn(operation, "responses"),
      parametersIn(operation).some(({ name }) => name === "Idempotency-Key")
    ),
    parameters: parametersIn(operation).map((one) =>
      (parameterCounts.get(JSON.stringify(one)) ?? 0) > 1
        ? parameters.add("parameters", parameterName(one, path), one)
        : one
    )
  }))
  const repeated = counted(
    operationsOf(paths).flatMap((operation) => Object.values(objectIn(operation, "responses")))
  )
  const names = new Map<string, string>()
  const again = (response: unknown, status: string, { operationId }: Json): unknown => {
    const text = JSON.stringify(response)
    const schema = jsonOf(response)["schema"]
    if ((repeated.get(text) ?? 0) < 2 || schema === undefined) return response
    const name =
      names.get(text) ??
      referred(schema) ??
      pascal(`${String(operationId)} ${phrases[status] ?? `Status${status}`}`)
    names.set(text, name)
    return responses.add("responses", name, response)
  }
  const documented = mapOperations(paths, (operation) => ({
    ...operation,
    responses: mapValues(objectIn(operation, "responses"), (response, status) =>
      again(response, status, operation)
    )
  }))
  const components = objectIn(document, "components")
  const found = { ...objectIn(components, "schemas"), ...Object.fromEntries(schemas.found) }
  const named = { ...eventFields(found), ...found }
  return {
    ...documented,
    components: {
      ...components,
      schemas: mapValues(extending(named), (schema, name) =>
        isObject(schema) && examples.has(name) ? { ...schema, examples: [examples.get(name)] } : schema
      ),
      responses: {
        ...objectIn(components, "responses"),
        ...Object.fromEntries(responses.found)
      },
      parameters: { ...objectIn(components, "parameters"), ...Object.fromEntries(parameters.found) },
      headers: Object.fromEntries(headers.found)
    }
  }
}
