import path from "node:path"
import { Currency } from "../packages/core/src/base/Amount.ts"
import { Api } from "../packages/service/src/http/Api.ts"
import { catalogue } from "../packages/service/src/http/pages/Catalogue.ts"
import { whole } from "../packages/service/src/http/pages/Docs.ts"
import {
  askedName,
  camel,
  eventType,
  isTime,
  nameOf,
  short,
  snake,
  wireName
} from "../packages/client/src/Plain.ts"
import { isNew } from "../packages/client/src/Client.ts"
import { operatorRoutes } from "../packages/client/src/OperatorRoutes.ts"
import { defaults, routes } from "../packages/client/src/Routes.ts"
import { format } from "../packages/http/src/wire/Scalars.ts"

// Generates the types of @satrail/client from the OpenAPI documents: a method for each route, and the record
// types that the client returns.

interface Schema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
}
interface Content {
  readonly content?: Readonly<
    Record<
      string,
      { readonly schema: Schema; readonly examples?: { readonly default?: { readonly value: unknown } } }
    >
  >
}
interface Operation {
  readonly summary: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
  }>
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Content>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** The direction of a value. In requests and responses, fields have the same names but different types. */
type Way = "asked" | "answered"

const names: Readonly<Record<string, string>> = {
  LightningInvoice: "Invoice",
  CreateLightningInvoice: "CreateInvoice",
  SettleLightningInvoice: "SettleInvoice",
  OwnDomain: "Domain"
}
const union = (parts: ReadonlyArray<string>) => [...new Set(parts)].join(" | ")
const member = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name))
const capital = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase())
const isTimeType = (schema: Schema): boolean =>
  [schema, ...(schema.anyOf ?? [])].some(({ format }) => format === "date-time")
/** The format of an amount in satoshis; undefined for any other value. */
const amountFormat = ({ format: own, anyOf = [], allOf = [] }: Schema): string | undefined =>
  own === format.amount || own === format.due
    ? own
    : [...anyOf, ...allOf].map(amountFormat).find((found) => found !== undefined)
const isNullable = (schema: Schema | undefined): boolean =>
  (schema?.anyOf ?? []).some(({ type }) => type === "null")

const canBeMax = ({ const: own, enum: all, anyOf = [] }: Schema): boolean =>
  own === "max" || all?.includes("max") === true || anyOf.some(canBeMax)

const comment = (text: string | undefined, indent: string, example?: string): string => {
  const said = (text ?? "").replaceAll("*/", "* /").trim()
  const lines = [
    ...(said === "" ? [] : said.split("\n")),
    ...(example === undefined ? [] : ["", "@example", ...example.split("\n")])
  ]
  if (lines.length === 0) return ""
  const [first = ""] = lines
  if (lines.length === 1) return `${indent}/** ${first} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`
}

const make = () => {
  const both = Object.values(whole(Api, { network: "regtest" })) as unknown as ReadonlyArray<Document>
  const schemas = new Map(both.flatMap(({ components }) => Object.entries(components.schemas)))
  /** The operations by route. Every path parameter is called `id`. */
  const operations = new Map(
    both.flatMap(({ paths }) =>
      Object.entries(paths).flatMap(([at, methods]) =>
        Object.entries(methods).map(
          ([method, one]) => [`${method} ${at.replaceAll(/\{\w+\}/g, "{id}")}`, one] as const
        )
      )
    )
  )
  const written = new Map<string, string>()
  const withMetadata = new Map<string, boolean>()

  const keyOf = (ref: string) => (ref.split("/").at(-1) ?? "").replaceAll(/\W/g, "_")
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (schemas.get(keyOf(schema.$ref)) ?? schema)

  /** Returns whether a type contains metadata. The user chooses the type of metadata. */
  const hasMetadata = (schema: Schema): boolean => {
    if (schema.$ref !== undefined) {
      const key = keyOf(schema.$ref)
      const known = withMetadata.get(key)
      if (known !== undefined) return known
      withMetadata.set(key, false)
      const found = hasMetadata(resolve(schema))
      withMetadata.set(key, found)
      return found
    }
    const inside = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])]
    const members = Object.entries(schema.properties ?? {})
    return inside.some(hasMetadata) || members.some(([name, one]) => name === "metadata" || hasMetadata(one))
  }

  const single = (schema: Schema, type: string | undefined, way: Way): string => {
    if (type === "string" || type === "boolean" || type === "null") return type
    if (type === "integer" || type === "number") return "number"
    if (type === "array")
      return `ReadonlyArray<${schema.items === undefined ? "unknown" : typeOf(schema.items, way)}>`
    if (type !== "object" && schema.properties === undefined) return "unknown"
    if (schema.properties !== undefined) return `{ ${membersOf(schema, way).join("; ")} }`
    return typeof schema.additionalProperties === "object"
      ? `Readonly<Record<string, ${typeOf(schema.additionalProperties, way)}>>`
      : "Readonly<Record<string, unknown>>"
  }

  const eventTypes = (schema: Schema): string =>
    union(
      [schema, ...(schema.anyOf ?? [])]
        .flatMap((one) => one.enum ?? [])
        .map((type) => JSON.stringify(eventType(String(type))))
    )

  const referred = (ref: string, way: Way): string => {
    const key = keyOf(ref)
    const schema = schemas.get(key)
    if (schema === undefined) throw new Error(`${ref} is not defined in any document`)
    if (["Currency", "EventFilter", "GivenDestination"].includes(key)) return "string"
    if (key === "GivenMetadata") return "M"
    const name = names[key] ?? key
    const generic = hasMetadata({ $ref: ref })
    if (!written.has(name)) {
      written.set(name, "")
      const parameter = generic ? "<M = Metadata>" : ""
      const head = comment(schema.description, "")
      const { type, data } = schema.properties ?? {}
      const isEvent = name.endsWith("Event") && type !== undefined && data !== undefined
      written.set(
        name,
        isEvent
          ? `${head}export interface ${name}${parameter} extends EventOf<${eventTypes(type)}, ${typeOf(data, "answered")}> {}`
          : schema.properties !== undefined
            ? `${head}export interface ${name}${parameter} {\n${membersOf(schema, way, "  ")
                .map((one) => `${one}\n`)
                .join("")}}`
            : `${head}export type ${name}${parameter} = ${typeOf(schema, way)}`
      )
    }
    return generic ? `${name}<M>` : name
  }

  const typeOf = (schema: Schema, way: Way): string => {
    if (schema.$ref !== undefined) return referred(schema.$ref, way)
    if (schema.enum !== undefined) return union(schema.enum.map((one) => JSON.stringify(one)))
    if (schema.const !== undefined) return JSON.stringify(schema.const)
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return union(either.map((one) => typeOf(one, way)))
    const [first] = schema.allOf ?? []
    if (first !== undefined && schema.type === undefined) return typeOf(first, way)
    if (Array.isArray(schema.type)) return union(schema.type.map((type: string) => single(schema, type, way)))
    return single(schema, typeof schema.type === "string" ? schema.type : undefined, way)
  }

  const valueOf = (name: string, schema: Schema, way: Way): string => {
    if (way === "asked" && name === "types")
      return `ReadonlyArray<string>${isNullable(schema) ? " | null" : ""}`
    const orNull = isNullable(schema) ? " | null" : ""
    if (name === "metadata") return `M${orNull}`
    if (isTimeType(schema)) {
      if (!isTime(name)) throw new Error(`${name} is a time, but Plain.ts does not list it`)
      return `Date${orNull}`
    }
    const type = typeOf(schema, way)
    if (amountFormat(schema) === undefined) return type
    return type.replaceAll(/\bnumber\b/g, way === "answered" ? "Money" : "Sats")
  }

  /** The fields of requests. */
  const requested = new Set<string>()

  /** Fields that the client adds to a request, by the schema of its body. */
  const added = new Map<Schema, ReadonlyArray<string>>()

  /** Returns the most specific description of a schema, which may be that of its value that is not null. */
  const descriptionOf = (schema: Schema): string | undefined => {
    const { description, anyOf = [], allOf = [] } = { ...resolve(schema), ...schema }
    const refined = allOf.findLast((one) => one.description !== undefined)
    return refined?.description ?? description ?? anyOf.map(descriptionOf).find((one) => one !== undefined)
  }

  const membersOf = (all: Schema, way: Way, indent = ""): ReadonlyArray<string> => {
    const { properties = {} } = all
    const required = (all.required ?? []).filter((name) => added.get(all)?.includes(name) !== true)
    const isPriced = way === "asked" && "amount" in properties && "currency" in properties
    const called = (name: string) => (way === "answered" ? nameOf(name, properties) : askedName(name))
    const members = Object.entries(properties).filter(([name]) => !isPriced || name !== "currency")
    if (new Set(members.map(([name]) => called(name))).size !== members.length)
      throw new Error(`two of ${Object.keys(properties)} have one name`)
    if (way === "asked") members.forEach(([name]) => requested.add(name))
    return members.map(([name, schema]) => {
      const isAmount = isPriced && name === "amount"
      const optional = required.includes(name) ? "" : "?"
      const type = isAmount
        ? `Amount${canBeMax(schema) ? ' | "max"' : ""}${isNullable(schema) ? " | null" : ""}`
        : valueOf(name, schema, way)
      const said = isAmount
        ? canBeMax(schema)
          ? "Satoshis, or `max`: the most that the balance covers with its fee"
          : isNullable(schema)
            ? "null if the payer decides"
            : undefined
        : descriptionOf(schema)
      const head = indent === "" ? "" : comment(said?.split("\n")[0], indent)
      return `${head}${indent}readonly ${member(called(name))}${optional}: ${type}${optional === "" || indent === "" ? "" : " | undefined"}`
    })
  }

  /** Returns the example of a request in the client's format. */
  const literal = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`
    if (typeof value !== "object" || value === null) return JSON.stringify(value)
    const { amount, currency, ...others } = value as Readonly<Record<string, unknown>>
    const price =
      amount === undefined
        ? []
        : [
            `amount: ${currency === "sats" || amount === null ? String(amount) : `"${String(amount)} ${String(currency)}"`}`
          ]
    const rest = Object.entries(others).map(([name, one]) => `${member(askedName(name))}: ${literal(one)}`)
    return `{ ${[...price, ...rest].join(", ")} }`
  }

  const operationKey = (route: string): `${string} ${string}` => {
    const [kind = "", at = ""] = route.split(" ")
    return `${{ CREATE: "post", ONCE: "post", LIST: "get" }[kind] ?? kind.toLowerCase()} ${at}`
  }

  const operationAt = (route: string) => {
    const [kind = ""] = route.split(" ")
    const operation = operations.get(operationKey(route))
    if (operation === undefined) throw new Error(`${route} is in no OpenAPI document`)
    const isKeyed = (operation.parameters ?? []).some(
      (one) => one.in === "header" && one.name === "Idempotency-Key"
    )
    if (isKeyed !== (kind === "CREATE"))
      throw new Error(`${route}: its document ${isKeyed ? "has" : "has no"} idempotency key`)
    const isPaged = (operation.parameters ?? []).some((one) => one.in === "query" && one.name === "cursor")
    if (isPaged !== (kind === "LIST"))
      throw new Error(`${route}: its document ${isPaged ? "has" : "has no"} pages`)
    return { kind, operation }
  }

  /** Returns the argument that follows the ids of a route: its type, whether it is optional, and an example. */
  const askOf = (noun: string, verb: string, route: string, { parameters = [], requestBody }: Operation) => {
    const body = requestBody?.content?.["application/json"]
    if (body !== undefined) {
      const { schema } = body
      const given = (schema.anyOf ?? [schema]).find(({ type }) => type !== "null") ?? schema
      added.set(resolve(given), Object.keys((isNew.test(route) && defaults[noun]) || {}))
      const isOptional =
        requestBody?.required !== true || isNullable(schema) || (resolve(given).required ?? []).length === 0
      return { type: typeOf(given, "asked"), isOptional, example: body.examples?.default?.value }
    }
    const query = parameters.filter((one) => one.in === "query" && one.name !== "format")
    if (query.length === 0) return undefined
    const schema = {
      properties: Object.fromEntries(query.map((one) => [one.name, one.schema])),
      required: query.filter((one) => one.required === true).map((one) => one.name)
    }
    const [first = "", second = "", ...others] = membersOf(schema, "asked", "  ")
    const page = `/** The fields that select a page of a list. */\nexport interface PageQuery {\n${first}\n${second}\n}`
    // Most lists begin with the same two fields.
    const isPaged = (written.get("PageQuery") ?? page) === page && query[0]?.name === "limit"
    if (isPaged) written.set("PageQuery", page)
    if (isPaged && others.length === 0) return { type: "PageQuery", isOptional: true, example: undefined }
    const name = `${capital(noun)}${capital(verb)}Query`
    const own = isPaged ? others : [first, second, ...others].filter((one) => one !== "")
    written.set(
      name,
      `export interface ${name} ${isPaged ? "extends PageQuery " : ""}{\n${own.join("\n")}\n}`
    )
    return { type: name, isOptional: true, example: undefined }
  }

  const methodOf = (noun: string, verb: string, route: string): string => {
    const { kind, operation } = operationAt(route)
    const answered = (operation.responses["200"] ?? operation.responses["201"])?.content?.["application/json"]
      ?.schema.properties?.["data"]
    if (answered === undefined) throw new Error(`${route} returns no JSON`)
    const { address } = answered.properties ?? {}
    const data = address?.$ref === undefined ? answered : address
    const parameters = (operation.parameters ?? []).filter((one) => one.in === "path")
    const ask = askOf(noun, verb, route, operation)
    const id = parameters.map(({ name }, at) =>
      at < parameters.length - 1 ? "company: CompanyRef" : `${name === "month" ? "month" : "id"}: string`
    )
    const options = kind === "CREATE" ? "CreateOptions" : "CallOptions"
    const type = ask?.type.replaceAll("<M>", "<W>")
    const asked =
      ask === undefined ? `ask?: ${options}` : `ask${ask.isOptional ? "?" : ""}: ${type} & ${options}`
    const result =
      kind === "LIST"
        ? `List<${typeOf(data.items ?? {}, "answered")}>`
        : `Promise<${typeOf(data, "answered")}>`
    const example =
      Object.keys(ask?.example ?? {}).length === 0
        ? undefined
        : `await client.${noun}.${verb}(${[...(id.length > 0 ? ["id"] : []), literal(ask?.example)].join(", ")})`
    // Use only the first sentence of the description, because the others are about HTTP.
    const [first = ""] = (operation.description ?? "").split(/(?<=\.) /)
    // A sentence such as "Creates a checkout." needs no summary such as "Create a checkout."
    const said = /^[A-Z][a-z]+s /.test(first)
      ? first
      : [operation.summary.replace(/\.?$/, "."), first].join(" ")
    const shape = (first: ReadonlyArray<string>) => `(${[...first, ...id, asked].join(", ")})`
    // Add an overload that takes the company first, for clients whose key does not determine the company.
    const isAlone = kind === "CREATE" || route.includes(" /operator/")
    const call = isAlone
      ? `${shape([])} => ${result}`
      : `{ ${shape([])}: ${result}; ${shape(["company: CompanyRef"])}: ${result} }`
    return `${comment(said, "  ", example)}  readonly ${verb}: ${call}`
  }

  /** The formats of all fields of these schemas, by name; undefined for a field that is not an amount. */
  const formatsIn = (roots: ReadonlyArray<unknown>): ReadonlyMap<string, string | undefined> => {
    const found = new Map<string, string | undefined>()
    const seen = new Set<unknown>()
    const collect = (value: unknown): void => {
      if (typeof value !== "object" || value === null || seen.has(value)) return
      seen.add(value)
      const { $ref, properties = {}, ...others } = value as Schema
      if ($ref !== undefined) collect(resolve({ $ref }))
      for (const [name, schema] of Object.entries(properties)) {
        const of = amountFormat(schema)
        if (found.has(name) && found.get(name) !== of)
          throw new Error(
            `${name} is an amount in one schema, and something else in another: ${JSON.stringify(schema)}`
          )
        found.set(name, of)
        collect(schema)
      }
      Object.values(others).forEach(collect)
    }
    roots.forEach(collect)
    return found
  }

  /** Amounts.ts, with the shortest rule that is true of every field, because programs in browsers load it. */
  const amounts = (): string => {
    const all = [...Object.values(routes), ...Object.values(operatorRoutes)].flatMap((verbs) =>
      Object.values(verbs).map((route) => operationAt(route).operation)
    )
    const given = formatsIn(all.map(({ requestBody }) => requestBody))
    const shown = formatsIn([
      ...all.map(({ responses }) => responses),
      { $ref: "#/components/schemas/Event" }
    ])
    const others: Array<string> = []
    for (const [name, of] of [...given, ...shown]) {
      if (name.endsWith("_sats") && of === undefined) throw new Error(`${name} has no format of Scalars.ts`)
      if (!name.endsWith("_sats") && of !== undefined) others.push(name)
    }
    const stems = (fields: ReadonlyMap<string, string | undefined>, formats: ReadonlyArray<string>) =>
      [...fields]
        .flatMap(([name, of]) => (of !== undefined && formats.includes(of) ? [short(name)] : []))
        .toSorted()
    const asked = stems(given, Object.values(format)).filter(
      (stem) => askedName(`${stem}_sats`) === camel(stem)
    )
    for (const name of requested)
      if (name !== "amount" && wireName(askedName(name), asked) !== name)
        throw new Error(`the client sends ${name} under another name`)
    return [
      "// Made by `npm run docs` from the formats in the OpenAPI documents. Don't edit.",
      "",
      "/** Matches the fields that are amounts in satoshis. */",
      `export const isAmount = /_sats$${others.map((name) => `|^${name}$`).join("")}/`,
      "",
      "/** The amounts that are required or due, and so rounded up, without their unit. */",
      `export const due = "${stems(shown, [format.due]).join(" ")}".split(" ")`,
      "",
      "/** The amounts of requests, without their unit. */",
      `export const asked = "${asked.join(" ")}".split(" ")`,
      "",
      "/** The currency of an amount. */",
      "export type Currency =",
      ...Currency.literals.map((one) => `  | "${one}"`),
      ""
    ].join("\n")
  }

  /**
   * The operations without a method: those with two names, which the client calls by one; those for machines; and
   * reconciliation and `POST` of adjustments, whose amounts, such as `node`, are named like fields of other kinds.
   */
  const others =
    /^(put \/(v1\/bitcoin\/deposit\/lightning-address|v1\/webhook-endpoints|operator\/webhook-endpoints)\/|post \/(v1\/bitcoin\/send\/|operator\/adjustments$)|get \/(tls|healthz|readyz|operator\/reconciliation)|patch \/operator\/reconciliation\/)/
  const called = new Set(
    [...Object.values(routes), ...Object.values(operatorRoutes)]
      .flatMap(Object.values<string>)
      .map(operationKey)
  )
  for (const [key, { responses }] of operations) {
    const isRecord = "application/json" in ((responses["200"] ?? responses["201"])?.content ?? {})
    if (isRecord && !called.has(key) && !others.test(key))
      throw new Error(`the client has no method for ${key}`)
  }

  const nounsOf = (table: typeof routes, prefix = "") =>
    Object.entries(table).map(([noun, verbs]) => {
      const methods = Object.entries(verbs).map(([verb, route]) => methodOf(noun, verb, route))
      const name = `${prefix}${capital(noun)}Verbs`
      const isGeneric = methods.some((one) => /\bM\b/.test(one.slice(one.lastIndexOf("readonly "))))
      const isWritten = methods.some((one) => one.includes("<W>"))
      const parameters = isGeneric ? `<M = Metadata${isWritten ? ", W = M" : ""}>` : ""
      const own = `Read<M, "${noun}">${isWritten ? `, Written<M, "${noun}">` : ""}`
      const given = isGeneric ? `<${noun === "events" ? "M" : own}>` : ""
      return {
        noun,
        type: `${name}${given}`,
        text: `export interface ${name}${parameters} {\n${methods.join("\n")}\n}`
      }
    })
  const [nouns, operatorNouns] = [nounsOf(routes), nounsOf(operatorRoutes, "Operators")]
  const interfaceOf = (name: string, all: typeof nouns) =>
    `export interface ${name}<M = Metadata> {\n${all.map(({ noun, type }) => `  readonly ${noun}: ${type}`).join("\n")}\n}`
  referred("#/components/schemas/Event", "answered")
  // The metadata of an event has the type of its record's metadata.
  const ownMetadata = (_: string, kind: string) => `${kind}Event<Read<M, "${snake(kind).slice(1)}">>`
  written.set("Event", (written.get("Event") ?? "").replaceAll(/(\w+)Event<M>/g, ownMetadata))
  const records = [
    "// Made by `npm run docs` from the OpenAPI documents and Routes.ts. Don't edit.",
    `import type { CallOptions, CompanyRef, CreateOptions, List } from "./Calls.ts"`,
    `import type { Amount, EventOf, Metadata, Money, Sats } from "./Plain.ts"`,
    `import type { Read, Written } from "./Schemas.ts"`,
    "",
    "/** The codes of the service's errors. */",
    `export type ErrorCode = ${union(Object.keys(catalogue).map((code) => JSON.stringify(code)))}`,
    ...written.values(),
    ...[...nouns, ...operatorNouns].map(({ text }) => text),
    "/** All operations of the API for companies, and those for operators that create companies. */",
    interfaceOf("Nouns", nouns),
    "/** The other operations for operators. */",
    interfaceOf("OperatorNouns", operatorNouns),
    ""
  ].join("\n")
  return [
    { file: at("Records.ts"), text: records },
    { file: at("Amounts.ts"), text: amounts() }
  ]
}

const at = (file: string) => path.resolve(import.meta.dirname, "../packages/client/src", file)

/** The generated files of the client. */
export const files = make
