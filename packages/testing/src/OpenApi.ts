// Reads our OpenAPI documents the way a client generator does. Supports only the parts of OpenAPI that our
// documents use.

/** A JSON Schema: its keywords and their values. */
export interface Schema {
  readonly [keyword: string]: unknown
}

/** A parameter of a request. */
export interface Parameter {
  readonly in: "path" | "query" | "header"
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

/** An operation: its request and all of its possible responses. */
export interface Operation {
  /** The method and path, such as `GET /v1/vouchers/{id}`. */
  readonly name: string
  readonly method: string
  /** The path, with `{name}` for each parameter. */
  readonly path: string
  readonly description: string
  /** Names of the security schemes, one of which is required. Empty if the operation is public. */
  readonly opens: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: { readonly schema: Schema; readonly required: boolean } | undefined
  /** The example of the request body, or undefined if there is none. */
  readonly example: unknown
  /** Response schemas by status. The schema is empty if the response has no JSON body. */
  readonly answers: ReadonlyMap<number, Schema>
  /** Media types other than JSON, by status. */
  readonly others: ReadonlyMap<number, ReadonlyArray<string>>
}

export interface Document {
  readonly operations: ReadonlyArray<Operation>
  /** Resolves a reference to a schema. */
  readonly resolve: (schema: Schema) => Schema
  /** Lists how a value differs from a schema. Objects must not have fields that the schema does not name. */
  readonly differences: (value: unknown, schema: Schema, path?: string) => ReadonlyArray<string>
}

export const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const objectIn = (value: unknown, name: string): Schema => {
  const member = isObject(value) ? value[name] : undefined
  return isObject(member) ? member : {}
}
const listIn = (value: unknown, name: string): ReadonlyArray<Schema> => {
  const member = isObject(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}
const textIn = (value: Schema, name: string): string => {
  const member = value[name]
  return typeof member === "string" ? member : ""
}

/** Returns the alternatives in a schema. A value must match one of them. Empty if there are none. */
export const alternatives = (schema: Schema): ReadonlyArray<Schema> => [
  ...listIn(schema, "anyOf"),
  ...listIn(schema, "oneOf")
]

/** Returns all schemas that a value must match, starting with the given one. */
export const parts = ({ allOf, ...rest }: Schema): ReadonlyArray<Schema> => [
  rest,
  ...listIn({ allOf }, "allOf")
]

/** Returns a schema with the fields of the schema that it extends. */
const extended = ({ allOf: _, ...schema }: Schema, base: Schema): Schema => ({
  ...schema,
  type: "object",
  properties: { ...objectIn(base, "properties"), ...objectIn(schema, "properties") },
  required: [base["required"], schema["required"]].flatMap((names) => (Array.isArray(names) ? names : []))
})

/**
 * Splits a `default` response into one response per status. Statuses that the operation lists itself are kept
 * unchanged.
 */
const spread = (responses: Schema, schemas: Schema): Schema => {
  const { default: general, ...others } = responses
  const all = alternatives(objectIn(objectIn(objectIn(general, "content"), "application/json"), "schema"))
  const statusOf = ({ $ref }: Schema) =>
    objectIn(objectIn(objectIn(schemas, String($ref).split("/").at(-1) ?? ""), "properties"), "status")
  const byStatus = Map.groupBy(all, (schema) => String(statusOf(schema)["const"]))
  const each = [...byStatus].map(([status, anyOf]) => [
    status,
    {
      ...(isObject(general) && general),
      content: { "application/json": { schema: anyOf.length === 1 ? anyOf[0] : { anyOf } } }
    }
  ])
  return { ...Object.fromEntries(each), ...others }
}

/**
 * Returns the document with all references to responses, parameters and headers resolved. References to schemas
 * are not resolved.
 */
export const expanded = (document: unknown): Schema => {
  const components = objectIn(document, "components")
  const schemas = objectIn(components, "schemas")
  const usual = listIn(isObject(document) ? document : {}, "security")
  const look = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(look)
    if (!isObject(value)) return value
    const [, kind = "", name = ""] =
      /^#\/components\/(responses|parameters|headers)\/(.+)$/.exec(textIn(value, "$ref")) ?? []
    if (kind !== "") return look(objectIn(components, kind)[name])
    const all = Object.fromEntries(Object.entries(value).map(([member, one]) => [member, look(one)]))
    return isObject(all["responses"]) && "operationId" in all
      ? { security: usual, ...all, responses: spread(all["responses"], schemas) }
      : all
  }
  return {
    ...(isObject(document) && document),
    paths: look(objectIn(document, "paths")),
    ...(isObject(document) && "webhooks" in document && { webhooks: look(document["webhooks"]) })
  }
}

const ofKind: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: Number.isInteger,
  number: Number.isFinite,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null
}

/** Reads one or more documents that together describe one service. */
export const read = (...given: ReadonlyArray<unknown>): Document => {
  const documents = given.map(expanded)
  const merged = (of: (document: unknown) => Schema): Schema => Object.assign({}, ...documents.map(of))
  const schemas = merged((document) => objectIn(objectIn(document, "components"), "schemas"))
  const resolve = (schema: Schema): Schema => {
    if (typeof schema["$ref"] === "string")
      return resolve(objectIn(schemas, schema["$ref"].split("/").at(-1) ?? ""))
    const bases = listIn(schema, "allOf").filter(
      ({ $ref, properties }) => typeof $ref === "string" || isObject(properties)
    )
    return bases.length === 0 ? schema : bases.map(resolve).reduce(extended, schema)
  }

  const differences = (value: unknown, given: Schema, path = ""): ReadonlyArray<string> => {
    const schema = resolve(given)
    const others = alternatives(schema)
    if (others.length > 0) {
      // A value must match the alternative together with the rest of the schema.
      const { anyOf: _, oneOf: __, ...rest } = schema
      return others.some((one) => differences(value, { ...rest, ...one }).length === 0)
        ? []
        : [`${path} matches none of its alternatives: ${JSON.stringify(value)}`]
    }
    const all = listIn(schema, "allOf").flatMap((one) =>
      differences(value, { ...schema, allOf: undefined, ...one }, path)
    )
    if (Array.isArray(schema["enum"]) && !schema["enum"].includes(value))
      return [...all, `${path} is ${JSON.stringify(value)}, not one of ${schema["enum"].join(", ")}`]
    if ("const" in schema && schema["const"] !== value)
      return [...all, `${path} is ${JSON.stringify(value)}, not ${String(schema["const"])}`]
    if (Array.isArray(schema["type"])) {
      const { type: types, ...others } = schema
      return schema["type"].some((one) => differences(value, { ...others, type: one }).length === 0)
        ? []
        : [`${path} is not a valid ${String(types)}: ${JSON.stringify(value)}`]
    }
    const type = textIn(schema, "type")
    if (type === "object") {
      if (!isObject(value)) return [...all, `${path} is not an object`]
      const [properties, required, additional] = [
        objectIn(schema, "properties"),
        schema["required"],
        schema["additionalProperties"]
      ]
      return [
        ...all,
        ...(Array.isArray(required) ? required : [])
          .filter((name) => !(name in value))
          .map((name) => `${path}.${name} is missing`),
        ...Object.entries(value).flatMap(([name, member]) => {
          const property = Object.hasOwn(properties, name) ? properties[name] : additional
          return isObject(property)
            ? differences(member, property, `${path}.${name}`)
            : [`${path}.${name} is not in the document`]
        })
      ]
    }
    if (type === "array") {
      if (!Array.isArray(value)) return [...all, `${path} is not an array`]
      const items = objectIn(schema, "items")
      return [...all, ...value.flatMap((item, index) => differences(item, items, `${path}[${index}]`))]
    }
    const isOfKind = ofKind[type]
    if (isOfKind !== undefined) return isOfKind(value) ? all : [...all, `${path} is not of type ${type}`]
    return "allOf" in schema || "enum" in schema || "const" in schema
      ? all
      : [...all, `${path} has a schema that allows anything`]
  }

  const contentOf = (value: unknown): Schema => {
    const [content] = Object.values(objectIn(value, "content"))
    return objectIn(content, "schema")
  }

  const exampleOf = (value: unknown): unknown => {
    const [content] = Object.values(objectIn(value, "content"))
    return objectIn(objectIn(content, "examples"), "default")["value"]
  }

  const parameterOf = (one: Schema): Parameter => {
    const place = one["in"]
    if (place !== "path" && place !== "query" && place !== "header")
      throw new Error(`a parameter is in ${String(place)}`)
    // In the served document, a parameter's example is next to its schema, not inside it.
    const { value } = objectIn(objectIn(one, "examples"), "default")
    const schema = {
      ...(value !== undefined && value !== "" && { examples: [value] }),
      ...objectIn(one, "schema")
    }
    return { in: place, name: textIn(one, "name"), required: one["required"] === true, schema }
  }

  const othersOf = (answer: unknown): ReadonlyArray<string> =>
    Object.keys(objectIn(answer, "content")).filter((type) => type !== "application/json")

  const operations = Object.entries(merged((document) => objectIn(document, "paths"))).flatMap(
    ([path, methods]) =>
      Object.entries(isObject(methods) ? methods : {}).map(([method, operation]): Operation => {
        const described = isObject(operation) ? operation : {}
        const body = objectIn(described, "requestBody")
        return {
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          description: textIn(described, "description"),
          opens: listIn(described, "security").flatMap((scheme) => Object.keys(scheme)),
          parameters: listIn(described, "parameters").map(parameterOf),
          body:
            "requestBody" in described
              ? { schema: contentOf(body), required: body["required"] === true }
              : undefined,
          example: exampleOf(body),
          answers: new Map(
            Object.entries(objectIn(described, "responses")).map(([status, answer]) => [
              Number(status),
              contentOf(answer)
            ])
          ),
          others: new Map(
            Object.entries(objectIn(described, "responses")).map(([status, answer]) => [
              Number(status),
              othersOf(answer)
            ])
          )
        }
      })
  )
  return { operations, resolve, differences }
}

const endless = "text/event-stream"

/** Returns the text of a response. Aborts an endless response (an event stream) and returns empty text for it. */
export const textOf = async (response: Response): Promise<string> => {
  if (response.headers.get("content-type") !== endless) return response.text()
  await response.body?.cancel()
  return ""
}

/** Returns whether the operation has only responses that end, unlike an event stream. */
export const hasEnd = ({ others }: Operation): boolean =>
  ![...others.values()].some((types) => types.includes(endless))
