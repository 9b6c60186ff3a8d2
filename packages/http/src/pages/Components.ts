// Says each part of an OpenAPI document once. The framework writes every response, parameter and schema out wherever it is used.

export type Json = Readonly<Record<string, unknown>>
export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
export const objectIn = (value: unknown, name: string): Json => {
  const member = isObject(value) ? value[name] : undefined
  return isObject(member) ? member : {}
}
const listIn = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const member = isObject(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}

type Kind = "schemas" | "responses" | "parameters" | "headers"
const refTo = (kind: Kind, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const schemaPrefix = "#/components/schemas/"
/** The component that a schema refers to; undefined if it is written out. */
const referred = (schema: unknown): string | undefined => {
  const ref = isObject(schema) ? schema["$ref"] : undefined
  return typeof ref === "string" && ref.startsWith(schemaPrefix) ? ref.slice(schemaPrefix.length) : undefined
}

const mapValues = (object: Json, f: (value: unknown, name: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, f(value, name)]))

const pascal = (text: string): string =>
  text
    .split(/[^a-z\d]+/i)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")

/** `f` of every object inside `value`, from the inside out. What stands under `example` or `examples` is data, and stays. */
const rewrite = (value: unknown, f: (object: Json) => Json): unknown => {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, f))
  if (!isObject(value)) return value
  return f(mapValues(value, (member, name) => (name === "example" || name === "examples" ? member : rewrite(member, f))))
}
const rewriteAll = (document: Json, f: (object: Json) => Json): Json => mapValues(document, (member) => rewrite(member, f))

/** Names of all schemas that are reachable from a value. */
const reachable = (value: unknown, schemas: Json): ReadonlySet<string> => {
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

/** The values of an object that is a part of the document's `paths`: its operations. */
const operationsOf = (document: Json): ReadonlyArray<Json> =>
  Object.values(objectIn(document, "paths")).flatMap((path) => (isObject(path) ? Object.values(path).filter(isObject) : []))

const mapOperations = (document: Json, f: (operation: Json, path: string) => Json): Json => ({
  ...document,
  paths: mapValues(objectIn(document, "paths"), (methods, path) =>
    isObject(methods) ? mapValues(methods, (operation) => (isObject(operation) ? f(operation, path) : operation)) : methods
  )
})

/** One constant is `const`, which generators read as a literal: an enumeration of one value would be a type of its own. */
const constant = (schema: Json): Json => {
  const [only, ...more] = listIn(schema, "enum")
  if (only === undefined || more.length > 0) return schema
  const { enum: _, ...others } = schema
  return { ...others, ...(Number.isInteger(only) && { type: "integer" }), const: only }
}

const withoutExamples = ({ examples: _, ...schema }: Json): Json => schema

/** A format says what such a text looks like, so the example is not repeated wherever there is one. */
const withoutPlainExample = (schema: Json): Json =>
  schema["format"] === "uuid" || schema["format"] === "date-time" ? withoutExamples(schema) : schema

/** A union of one is that one. */
const withoutUnionOfOne = (schema: Json): Json => {
  const [only, ...more] = listIn(schema, "anyOf")
  if (!isObject(only) || more.length > 0) return schema
  const { anyOf: _, ...others } = schema
  return { ...only, ...others }
}

/** A value that may be null, of a plain type: both types in a list, rather than a union of two schemas. */
const nullable = (schema: Json): Json => {
  const [one, other, ...more] = listIn(schema, "anyOf")
  if (!isObject(one) || !isObject(other) || more.length > 0 || other["type"] !== "null") return schema
  if (typeof one["type"] !== "string" || "enum" in one || "const" in one) return schema
  const { anyOf: _, ...others } = schema
  return { ...one, type: [one["type"], "null"], ...others }
}

/** Every integer that JSON carries exactly: which bound that is goes without saying. */
const withoutWidestBounds = (schema: Json): Json =>
  Object.fromEntries(
    Object.entries(schema).filter(([name, value]) => !/^(?:min|max)imum$/.test(name) || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER)
  )

/** What a schema says beside its description. */
const bare = ({ description: _, ...others }: Json): string => JSON.stringify(others)

/**
 * The framework numbers a schema that has an identifier in two places with different descriptions: `FeeRate_1` is `FeeRate` with a description beside the
 * reference. Two schemas that differ otherwise keep their numbers, for which a test looks.
 */
const unnumbered = (document: Json): Json => {
  const schemas = objectIn(objectIn(document, "components"), "schemas")
  const kept = new Map<string, Json>()
  const instead = new Map<string, Json>()
  for (const [name, schema] of Object.entries(schemas)) if (isObject(schema) && !/_\d+$/.test(name)) kept.set(name, schema)
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
    instead.set(name, { ...refTo("schemas", base), ...(description !== original["description"] && { description }) })
  }
  const replaced = rewriteAll(document, (object) => {
    const found = instead.get(referred(object) ?? "")
    return found === undefined ? object : { ...found, ...(object["description"] !== undefined && { description: object["description"] }) }
  })
  const rewritten = objectIn(objectIn(replaced, "components"), "schemas")
  return {
    ...replaced,
    components: {
      ...objectIn(replaced, "components"),
      schemas: Object.fromEntries(
        [...kept.keys()].map((name) => [
          name,
          rewritten[name] ?? rewrite(kept.get(name), (object) => instead.get(referred(object) ?? "") ?? object)
        ])
      )
    }
  }
}

/**
 * Bodies of requests are read strictly, and `additionalProperties: false` says so. Responses and events may get new members: they are open, so that a client that
 * checks them is not broken by one.
 */
const withOpenAnswers = (document: Json): Json => {
  const open = (value: unknown) =>
    rewrite(value, (object) => {
      const { additionalProperties, ...others } = object
      return withoutWidestBounds(nullable(additionalProperties === false ? others : object))
    })
  // Every operation has an example of its whole answer, in which each member is shown.
  const answered = (schema: unknown) =>
    rewrite(open(schema), (object) => ("properties" in object || typeof object["type"] === "string" ? withoutExamples(object) : object))
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

const itemOf = (schema: unknown) => (isObject(schema) && schema["type"] === "array" ? referred(schema["items"]) : undefined)

/** The record, or the kind of records, that an envelope is around. */
const recordOf = (schema: Json): string | undefined => {
  const { data } = objectIn(schema, "properties")
  return referred(data) ?? itemOf(data)
}

/** What the envelope around a record is called: `Voucher` is answered as a `VoucherResponse`, and a list of them as a `VoucherListResponse`. */
const envelopeOf = (schema: Json): string | undefined => {
  const properties = objectIn(schema, "properties")
  const record = recordOf(schema)
  if (record === undefined) return undefined
  const isCreated = objectIn(properties, "status")["const"] === 201
  return `${record}${"items" in objectIn(properties, "data") ? "List" : ""}${isCreated ? "Created" : ""}Response`
}

const jsonOf = (response: unknown) => objectIn(objectIn(response, "content"), "application/json")

/** The codes that a response may have, as their components are called. */
const codesOf = (response: unknown): ReadonlyArray<string> => {
  const schema = jsonOf(response)["schema"]
  const all = isObject(schema) && Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [schema]
  return all.flatMap((one) => referred(one) ?? []).toSorted()
}

const phrases: Readonly<Record<string, string>> = { 400: "BadRequest", 403: "Forbidden", 503: "ServiceUnavailable" }

/** The codes that most operations answer with a status: what the middleware adds everywhere. */
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

/** A name by the codes of a response: `NotFound`, `Forbidden`, `CompanyFrozenOrForbidden`. */
const responseName = (status: string, codes: ReadonlyArray<string>, usual: ReadonlyArray<string>): string => {
  const special = codes.filter((code) => !usual.includes(code))
  const isWhole = usual.every((code) => codes.includes(code))
  if (codes.length === 1 || !isWhole || usual.length === 0) return codes.join("Or")
  return [...special, usual.length === 1 ? usual.join("") : (phrases[status] ?? `Status${status}`)].join("Or")
}

/** What can happen to any request, whatever it asks for: said once, as the `default` response. */
const ofAnyRequest = ["408", "413", "415", "417", "431", "500"]

/** What a response with several codes says; each code's schema says what it means. */
const oneOf = (codes: ReadonlyArray<string>) => `One of these errors: ${codes.join(", ")}`

const errorOf = (description: string, codes: ReadonlyArray<string>) => ({
  description,
  content: { "application/json": { schema: { anyOf: codes.map((code) => refTo("schemas", code)) } } }
})

// One that has more in its name is answered by one or two operations, which say it themselves.
const maxNameCharacters = 60

/** What is said once, by its name, as it is collected. The same name for two different things is a mistake in the sources. */
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

/** How often each value is there. */
const counted = (values: ReadonlyArray<unknown>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(JSON.stringify(value), (counts.get(JSON.stringify(value)) ?? 0) + 1)
  return counts
}

/** A parameter's schema, without what the parameter itself says. */
const parameterOf = (parameter: Json): Json => {
  const schema = objectIn(parameter, "schema")
  const { description, examples: _, ...others } = schema
  return { ...parameter, schema: parameter["description"] === description ? others : { ...others, description } }
}

/** `Cursor` of a query; of a path, what stands before it too: `VouchersId`. */
const parameterName = ({ name, in: place }: Json, path: string): string => {
  const [before = ""] = path.split(`/{${String(name)}}`)
  return pascal(place === "path" ? `${before.split("/").at(-1) ?? ""} ${String(name)}` : String(name))
}

/** The document with everything that is said twice said once, under names that follow from identifiers and codes. */
export const shared = (given: Json): Json => {
  const document = withOpenAnswers(unnumbered(rewriteAll(given, (object) => withoutUnionOfOne(withoutPlainExample(constant(object))))))
  const operations = operationsOf(document)
  const usual = usualCodes(operations)
  const parametersIn = (operation: Json) => listIn(operation, "parameters").filter(isObject).map(parameterOf)
  const parameterCounts = counted(operations.flatMap(parametersIn))
  const [schemas, responses, parameters, headers] = [collected(), collected(), collected(), collected()]
  const examples = new Map<string, unknown>()

  const successOf = (response: Json): Json => {
    const content = mapValues(objectIn(response, "content"), (media) => {
      const schema = objectIn(media, "schema")
      const name = envelopeOf(schema)
      if (!isObject(media) || name === undefined) return media
      // The example stands with the record, for everything that answers it or tells of it.
      const { examples: own, ...others } = media
      const { data } = objectIn(objectIn(own, "default"), "value")
      const [record, example] = [recordOf(schema), Array.isArray(data) ? data[0] : data]
      if (record !== undefined && !examples.has(record) && example !== undefined) examples.set(record, example)
      return { ...others, schema: schemas.add("schemas", name, schema) }
    })
    const named = mapValues(objectIn(response, "headers"), (header, name) => headers.add("headers", pascal(name), header))
    return { ...response, content, ...(Object.keys(named).length > 0 && { headers: named }) }
  }
  const responseOf = (response: unknown, status: string): unknown => {
    if (!isObject(response)) return response
    if (Number(status) < 300) return successOf(response)
    const codes = codesOf(response)
    const said = codes.length > 1 ? errorOf(oneOf(codes), codes) : response
    const name = responseName(status, codes, usual.get(status) ?? [])
    return name === "" || name.length > maxNameCharacters ? said : responses.add("responses", name, said)
  }
  const general = new Set<string>()
  const responsesOf = (all: Json): Json => {
    if (!ofAnyRequest.every((status) => status in all)) return mapValues(all, responseOf)
    for (const code of ofAnyRequest.flatMap((status) => codesOf(all[status]))) general.add(code)
    const own = Object.entries(all).filter(([status]) => !ofAnyRequest.includes(status))
    return { ...mapValues(Object.fromEntries(own), responseOf), default: refTo("responses", "Default") }
  }
  const paths = mapOperations(document, (operation, path) => ({
    ...operation,
    responses: responsesOf(objectIn(operation, "responses")),
    parameters: parametersIn(operation).map((one) =>
      (parameterCounts.get(JSON.stringify(one)) ?? 0) > 1 ? parameters.add("parameters", parameterName(one, path), one) : one
    )
  }))
  const components = objectIn(document, "components")
  return {
    ...paths,
    components: {
      ...components,
      schemas: mapValues({ ...objectIn(components, "schemas"), ...Object.fromEntries(schemas.found) }, (schema, name) =>
        isObject(schema) && examples.has(name) ? { ...schema, examples: [examples.get(name)] } : schema
      ),
      responses: {
        ...objectIn(components, "responses"),
        ...Object.fromEntries(responses.found),
        ...(general.size > 0 && { Default: errorOf("What can happen to any request, whatever it asks for", [...general]) })
      },
      parameters: { ...objectIn(components, "parameters"), ...Object.fromEntries(parameters.found) },
      headers: Object.fromEntries(headers.found)
    }
  }
}
