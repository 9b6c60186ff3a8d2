import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { whole } from "../packages/service/src/http/pages/Docs.ts"
import { api } from "../packages/server/src/serving/Server.ts"

// Generates the types of the requests that the console makes, and of their responses, from the OpenAPI documents. The
// console needs no other part of a client.

const sources = [
  "ui/src/console",
  "service/src/console",
  "features/src",
  "http/src/pages",
  "service/src/http/pages"
].map((folder) => path.resolve(import.meta.dirname, "../packages", folder))

/** Matches the operations that the console's source names, such as `GET /v1/account` or `POST ${root}/webhook-endpoints`. */
const asked = sources
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => path.join(folder, file))
  )
  .filter((file) => file.endsWith(".ts") && path.basename(file) !== "wire.ts")
  .flatMap(
    (file) => readFileSync(file, "utf8").match(/(?<=["`])(?:GET|POST|PUT|PATCH|DELETE) [^"`]+(?=["`])/g) ?? []
  )
  .map((name) => new RegExp(`^${name.replaceAll(/\$\{[^}]*\}/g, "/\\w+").replaceAll(/[{}]/g, "\\$&")}$`))

interface Schema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly prefixItems?: ReadonlyArray<Schema>
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
interface Operation {
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
  }>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const member = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name))
const nameOf = (ref: string) => (ref.split("/").at(-1) ?? "").replaceAll(/\W/g, "_")
const union = (parts: ReadonlyArray<string>) => [...new Set(parts)].join(" | ")

const objectOf = ({ properties = {}, required = [], additionalProperties }: Schema): string => {
  const members = Object.entries(properties).map(
    ([name, schema]) => `readonly ${member(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`
  )
  if (members.length > 0) return `{ ${members.join("; ")} }`
  return typeof additionalProperties === "object"
    ? `Readonly<Record<string, ${typeOf(additionalProperties)}>>`
    : "Readonly<Record<string, unknown>>"
}

const single = (schema: Schema, type: string | undefined): string => {
  if (type === "string" || type === "boolean" || type === "null") return type
  if (type === "integer" || type === "number") return "number"
  if (type === "array")
    return `ReadonlyArray<${schema.items === undefined ? "unknown" : typeOf(schema.items)}>`
  return type === "object" || schema.properties !== undefined ? objectOf(schema) : "unknown"
}

const typeOf = (schema: Schema): string => {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.enum !== undefined) return union(schema.enum.map((one) => JSON.stringify(one)))
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return `(${union(either.map(typeOf))})`
  const [first] = schema.allOf ?? []
  if (first !== undefined && schema.type === undefined) return typeOf(first)
  if (Array.isArray(schema.type)) return `(${union(schema.type.map((type: string) => single(schema, type)))})`
  return single(schema, typeof schema.type === "string" ? schema.type : undefined)
}

const json = (content: Content | undefined) => content?.content?.["application/json"]?.schema

const operationOf = ({ parameters = [], requestBody, responses }: Operation): string | undefined => {
  const answered = json(responses["200"] ?? responses["201"])
  if (answered?.properties === undefined && answered?.$ref === undefined) return undefined
  const query = parameters.filter((one) => one.in === "query")
  const body = json(requestBody)
  return [
    `readonly query: { ${query.map(({ name, schema, required }) => `readonly ${member(name)}${required === true ? ": " : "?: undefined | "}${typeOf(schema)}`).join("; ")} }`,
    `readonly body: ${body === undefined ? "undefined" : typeOf(body)}`,
    `readonly answer: ${typeOf(answered)}`
  ].join("; ")
}

/** Returns the types that are named in `text`, and the types that those refer to. */
const needed = (text: string, schemas: ReadonlyMap<string, string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const look = (part: string) => {
    for (const [word] of part.matchAll(/\b[A-Z]\w*/g)) {
      const type = schemas.get(word)
      if (type === undefined || found.has(word)) continue
      found.add(word)
      look(type)
    }
  }
  look(text)
  return found
}

/** Returns the text of the generated file. */
export const text = (): string => {
  const both = Object.values(whole(api)) as unknown as ReadonlyArray<Document>
  const schemas = new Map(
    both.flatMap(({ components }) =>
      Object.entries(components.schemas).map(([name, one]) => [nameOf(name), typeOf(one)] as const)
    )
  )
  const operations = both.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path}`
        const type = asked.some((one) => one.test(name)) ? operationOf(operation) : undefined
        return type === undefined ? [] : [`  readonly "${name}": { ${type} }`]
      })
    )
  )
  const names = needed(operations.join("\n"), schemas)
  return [
    "// Made by `npm run docs` from the OpenAPI documents. Don't edit.",
    ...[...schemas]
      .filter(([name]) => names.has(name))
      .map(([name, type]) => `export type ${name} = ${type}`),
    "export interface Operations {",
    ...operations,
    "}",
    ""
  ].join("\n")
}
