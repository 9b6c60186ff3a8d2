import {
  alternatives,
  type Document,
  isObject,
  type Operation,
  type Parameter,
  parts,
  type Schema
} from "@satrail/testing/OpenApi"
import type { Random } from "@satrail/testing/Random"
import { gzipSync } from "node:zlib"
import { bytesOf, type Draft, type Header } from "./Draft.ts"
import type { Seen } from "./Seen.ts"
import * as Values from "./Values.ts"

/** Valid credentials and lookalikes. */
export interface Keys {
  /** A valid credential for each security scheme of the document. */
  readonly right: Readonly<Record<string, string>>
  readonly others: ReadonlyArray<string>
}

/** Values whose form the document describes only in words. */
const usual: Readonly<Record<string, ReadonlyArray<string>>> = {
  limit: ["1", "2", "50"],
  currency: ["sats", "sats", "SATS", "usd", "eur"],
  domain: ["pay.example.com", "own.example", "free.example"],
  amount: ["1000", "21000"],
  payerdata: ['{"name":"Satoshi"}']
}

/** The parts of a request. Each field of the body is two JSON texts: its quoted name and its value. */
interface Parts {
  readonly method: string
  /** The path's segments, percent-encoded. */
  readonly segments: ReadonlyArray<string>
  /** The indexes of the segments that are parameters. */
  readonly parameters: ReadonlyArray<number>
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  readonly headers: ReadonlyArray<Header>
  readonly members: ReadonlyArray<readonly [name: string, value: string]> | undefined
  /** The whole body, sent instead of the fields. */
  readonly body: Buffer | undefined
  readonly isBent: boolean
}

type Spoil = (random: Random, whole: Parts) => Parts

const encoded = (text: string): string =>
  Array.from(bytesOf(text), (byte) =>
    /[A-Za-z0-9_~-]/.test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`
  ).join("")

const replaced = <A>(all: ReadonlyArray<A>, at: number, change: (one: A) => A): ReadonlyArray<A> =>
  all.map((one, index) => (index === at ? change(one) : one))

const textOf = ({ members, body }: Parts): string =>
  body?.toString("latin1") ??
  bytesOf(`{${(members ?? []).map(([name, value]) => `${name}:${value}`).join(",")}}`)

const withBytes = (whole: Parts, body: Buffer): Parts => ({ ...whole, body, members: undefined })
const withHeader = (whole: Parts, name: string, value: string): Parts => ({
  ...whole,
  headers: [...whole.headers.filter(([other]) => other.toLowerCase() !== name), [name, value]]
})
const bent = (whole: Parts): Parts => ({ ...whole, isBent: true })

const spoilMember: Spoil = (random, whole) => {
  const { members = [] } = whole
  if (members.length === 0) return { ...whole, members: [[`"x"`, random.pick(Values.jsons)]] }
  return {
    ...whole,
    members: replaced(members, random.below(members.length), ([name]) => [name, random.pick(Values.jsons)])
  }
}

const textInJson = /"(?:[^"\\]|\\.)*"/g

/** Replaces one of the value's texts or inserts a character into it. The rest stays unchanged. */
const spoilText: Spoil = (random, whole) => {
  const { members = [] } = whole
  const holders = members.flatMap(([, value], at) => (value.match(textInJson) === null ? [] : [at]))
  if (holders.length === 0) return spoilMember(random, whole)
  return {
    ...whole,
    members: replaced(members, random.pick(holders), ([name, value]) => {
      const found = random.pick([...value.matchAll(textInJson)])
      const at = 1 + random.below(found[0].length - 1)
      const spoiled = random.chance(0.3)
        ? JSON.stringify(random.pick(Values.texts))
        : found[0].slice(0, at) + random.pick(Values.characters) + found[0].slice(at)
      return [name, value.slice(0, found.index) + spoiled + value.slice(found.index + found[0].length)]
    })
  }
}

const spoilMembers: Spoil = (random, whole) => {
  const { members = [] } = whole
  const at = random.below(Math.max(1, members.length))
  switch (random.below(4)) {
    case 0:
      return { ...whole, members: members.toSpliced(at, 1) }
    case 1:
      return {
        ...whole,
        members: [
          ...members,
          ...members.slice(at, at + 1).map(([name]) => [name, random.pick(Values.jsons)] as const)
        ]
      }
    case 2:
      return { ...whole, members: replaced(members, at, ([name, value]) => [name.toUpperCase(), value]) }
    default:
      return {
        ...whole,
        members: [...members, [`"${random.pick(Values.names)}"`, random.pick(Values.jsons)]]
      }
  }
}

const spoilBytes: Spoil = (random, whole) => {
  const text = textOf(whole)
  const at = random.below(text.length + 1)
  const inserted = (more: string) =>
    withBytes(whole, Buffer.from(text.slice(0, at) + more + text.slice(at), "latin1"))
  switch (random.below(10)) {
    case 0:
      return withBytes(whole, Buffer.from(text.slice(0, at), "latin1"))
    case 1:
      return inserted(random.pick(["\xff", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "\xc0\x80"]))
    case 2:
      return inserted(
        random.pick(["\0", "\x1b", "\x7f", "\u0085", "\\", '"', "{", "}", "[", ",", ":", "/**/", "//\n"])
      )
    case 3:
      return withBytes(whole, Buffer.from(`\xef\xbb\xbf${text}`, "latin1"))
    case 4:
      return withBytes(whole, Buffer.from(text, "utf16le"))
    case 5:
      return withBytes(whole, Buffer.from(text + random.pick([text, "1", " x", "]", "\0"]), "latin1"))
    case 6:
      return withBytes(
        whole,
        Buffer.from(text.padEnd(random.pick([64 * 1024, 64 * 1024 + 1, 70_000])), "latin1")
      )
    case 7:
      return withBytes(whole, Buffer.from(random.pick(Values.jsons)))
    case 8:
      return withBytes(whole, Buffer.alloc(0))
    default:
      return withHeader(
        withBytes(whole, gzipSync(text)),
        "content-encoding",
        random.pick(["gzip", "br", "deflate", "identity", "x"])
      )
  }
}

const spoilQuery: Spoil = (random, whole) => {
  const { query } = whole
  const at = random.below(Math.max(1, query.length))
  const value = () => encoded(random.pick(Values.texts))
  switch (random.below(5)) {
    case 0:
      return { ...whole, query: replaced(query, at, ([name]) => [name, value()]) }
    case 1:
      return { ...whole, query: [...query, ...query.slice(at, at + 1)] }
    case 2:
      return {
        ...whole,
        query: [
          ...query,
          [encoded(random.pick([...Values.texts, "limit[]", "limit[0]", "cursor.id"])), value()]
        ]
      }
    case 3:
      return {
        ...whole,
        query: Array.from({ length: random.pick([10, 1500]) }, (_, index) => [`q${index}`, "1"] as const)
      }
    default:
      return {
        ...whole,
        query: replaced(query, at, ([name]) => [name, random.pick(["%", "%ff", "%ed%a0%80", "a=b=c", "a+b"])])
      }
  }
}

const spoilParameter: Spoil = (random, whole) => {
  if (whole.parameters.length === 0) return spoilQuery(random, whole)
  const at = random.pick(whole.parameters)
  return { ...whole, segments: replaced(whole.segments, at, () => encoded(random.pick(Values.texts))) }
}

const spoilPath: Spoil = (random, whole) => {
  const { segments } = whole
  const at = random.below(segments.length)
  const spoiled = (change: (segment: string) => string) =>
    bent({ ...whole, segments: replaced(segments, at, change) })
  switch (random.below(9)) {
    case 0:
      return spoiled((segment) => segment.toUpperCase())
    case 1:
      return bent({
        ...whole,
        segments: segments.toSpliced(at, 0, random.pick(["", ".", "..", "%2e%2e", "%2f", "x"]))
      })
    case 2:
      return bent({ ...whole, segments: [...segments, random.pick(["", "x", ";", "%00"])] })
    case 3:
      return spoiled(
        (segment) =>
          `${segment}${random.pick([";", ";x=1", "%", "%zz", "%00", "%ff", "%2f", "%3f", "\\", "*", "{}", "\xff"])}`
      )
    case 4:
      // A percent-encoded letter is equivalent to the letter (RFC 3986, section 2.3).
      return spoiled(
        (segment) => `%${segment.charCodeAt(0).toString(16).padStart(2, "0")}${segment.slice(1)}`
      )
    case 5:
      return bent({ ...whole, segments: segments.slice(0, at) })
    case 6:
      return spoiled((segment) => segment.repeat(random.pick([2, 500])))
    case 7:
      return bent({ ...whole, segments: segments.map((segment) => encodeURIComponent(segment)) })
    default:
      return bent({ ...whole, segments: segments.toReversed() })
  }
}

const methods = [
  "GET",
  "HEAD",
  "OPTIONS",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "TRACE",
  "CONNECT",
  "QUERY",
  "get",
  "PROPFIND",
  "X-Y"
]
const spoilMethod: Spoil = (random, whole) => bent({ ...whole, method: random.pick(methods) })

const contentTypes = [
  "",
  "application/json; charset=utf-16",
  "application/json; charset=utf-8; charset=latin1",
  "application/json;",
  "APPLICATION/JSON",
  "application/json, text/plain",
  "application/problem+json",
  "text/json",
  "text/plain",
  "multipart/form-data",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "x",
  "\xff"
]

const oddHeaders: ReadonlyArray<Header> = [
  ["accept", "text/html"],
  ["accept", "x".repeat(4000)],
  ["accept-encoding", "gzip;q=0, *;q=0"],
  ["range", "bytes=0-0"],
  ["if-none-match", "*"],
  ["if-match", "x"],
  ["origin", "null"],
  ["cookie", "a=b; __proto__=c"],
  ["traceparent", "00-00000000000000000000000000000000-0000000000000000-00"],
  ["b3", "x"],
  ["x-forwarded-for", "' or 1=1 --, ::1, 999.999.999.999"],
  ["x-forwarded-host", "evil.example"],
  ["x-http-method-override", "DELETE"],
  ["content-encoding", "gzip"],
  ["content-length", "1e3"],
  ["__proto__", "x"],
  ["constructor", "x"],
  ["host", "evil.example"],
  ["host", ""],
  ["host", "a, b"],
  ["host", "\xff"],
  ["expect", "100-continue"]
]

const printable = (random: Random): string =>
  random.pick(Values.texts.filter((text) => /^[\t -~]*$/.test(text)))

const spoilHeaders =
  ({ others, right }: Keys): Spoil =>
  (random, whole) => {
    switch (random.below(6)) {
      case 0:
        return withHeader(
          whole,
          "authorization",
          `Bearer ${random.pick([...others, ...Object.values(right)])}`
        )
      case 1: {
        const schemes = ["Bearer ", "Bearer", "Basic ", "bearer  ", "Bearer\t", "", "Bearer Bearer "]
        return withHeader(
          whole,
          "authorization",
          random.pick(schemes) + random.pick([printable(random), ...Object.values(right)])
        )
      }
      case 2:
        return bent({
          ...whole,
          headers: [...whole.headers, ...whole.headers.slice(random.below(whole.headers.length)).slice(0, 1)]
        })
      case 3:
        return withHeader(
          whole,
          "idempotency-key",
          random.pick([printable(random), "k".repeat(256), "\xff", "a b", "k-1"])
        )
      case 4:
        return withHeader(whole, "content-type", random.pick(contentTypes))
      default: {
        const [name, value] = random.pick(oddHeaders)
        return bent(withHeader(whole, name, value))
      }
    }
  }

/** Generates request drafts: valid ones, ones with one defect, and ones with several. */
export const make = (
  random: Random,
  { resolve }: Document,
  operations: ReadonlyArray<Operation>,
  keys: Keys,
  seen: Seen
) => {
  let count = 0

  const oneOf = (schema: Schema): Schema => {
    const others = alternatives(resolve(schema))
    if (others.length === 0) return Object.assign({}, ...parts(resolve(schema)).map(resolve))
    const something = others.filter((other) => other["type"] !== "null")
    return oneOf(random.pick(something.length > 0 && random.chance(0.8) ? something : others))
  }

  /** Adding a letter produces another text of the same kind. */
  const varied = (text: string): string => {
    const at = random.below(text.length)
    return text.slice(0, at) + random.word(1, 1) + text.slice(at)
  }

  const wordFor = (name: string, schema: Schema, near?: string): string => {
    const known = random.chance(0.7) ? seen.find(random, name, near) : undefined
    if (known !== undefined) return known
    const examples = usual[name] ?? (Array.isArray(schema["examples"]) ? schema["examples"].map(String) : [])
    if (examples.length === 0) return random.word(1, 12)
    const example = random.pick(examples)
    return usual[name] === undefined && example !== "" && random.chance(0.4) ? varied(example) : example
  }

  const integer = (schema: Schema): number => {
    const bound = (name: string, otherwise: number) =>
      typeof schema[name] === "number" ? schema[name] : otherwise
    const minimum = bound("minimum", bound("exclusiveMinimum", 0))
    return Math.min(minimum + random.pick([0, 1, 5, 100, 20_000]), bound("maximum", Number.MAX_SAFE_INTEGER))
  }

  /** A JSON value that the schema allows. */
  const valid = (name: string, given: Schema, near?: string): string => {
    const schema = oneOf(given)
    if (Array.isArray(schema["enum"])) return JSON.stringify(random.pick(schema["enum"]))
    if ("const" in schema) return JSON.stringify(schema["const"])
    switch (schema["type"]) {
      case "object":
        return `{${membersOf(schema)
          .map(([name, value]) => `${name}:${value}`)
          .join(",")}}`
      case "array":
        return `[${Array.from({ length: 1 + random.below(2) }, () => valid(name, isObject(schema["items"]) ? schema["items"] : {})).join(",")}]`
      case "integer":
        return String(integer(schema))
      case "number":
        return random.pick(["1", "21", "1000", "2.5", "1e3"])
      case "boolean":
        return random.pick(["true", "false"])
      case "null":
        return "null"
      default:
        return JSON.stringify(wordFor(name, schema, near))
    }
  }

  const membersOf = (schema: Schema): ReadonlyArray<readonly [name: string, value: string]> => {
    const { properties, required, additionalProperties } = schema
    const wanted = Object.entries(isObject(properties) ? properties : {}).filter(
      ([name]) => (Array.isArray(required) && required.includes(name)) || random.chance(0.5)
    )
    const more = isObject(additionalProperties)
      ? Array.from({ length: random.pick([0, 1, 2, 2]) }, () => random.word(1, 8))
      : []
    return [
      ...wanted.map(
        ([name, property]) => [JSON.stringify(name), valid(name, isObject(property) ? property : {})] as const
      ),
      ...more.map(
        (name) =>
          [
            JSON.stringify(name),
            valid(name, isObject(additionalProperties) ? additionalProperties : {})
          ] as const
      )
    ]
  }

  const textFor = ({ name, schema }: Parameter, near?: string): string => {
    const value: unknown = JSON.parse(valid(name, schema, near))
    return String(value)
  }

  const good = (operation: Operation): Parts => {
    const { method, path, parameters, body, opens } = operation
    const named = new Map(parameters.map((parameter) => [parameter.name, parameter]))
    const segments = path
      .split("/")
      .slice(1)
      .map((segment, at, all) => ({
        segment,
        near: all[at - 1],
        parameter: named.get(/^\{(.*)\}$/.exec(segment)?.[1] ?? "")
      }))
    const query = parameters.filter(
      (parameter) => parameter.in === "query" && (parameter.required || random.chance(0.4))
    )
    const idempotent = parameters.some(({ name }) => name === "idempotency-key") && random.chance(0.4)
    const schema = body === undefined ? undefined : oneOf(body.schema)
    return {
      method,
      segments: segments.map(({ segment, near, parameter }) =>
        parameter === undefined ? segment : encoded(textFor(parameter, near))
      ),
      parameters: segments.flatMap(({ parameter }, at) => (parameter === undefined ? [] : [at])),
      query: query.map((parameter) => [encoded(parameter.name), encoded(textFor(parameter))]),
      headers: [
        ["host", "pay.example.com"],
        ["connection", "close"],
        ...opens.slice(0, 1).map((scheme): Header => ["authorization", `Bearer ${keys.right[scheme] ?? ""}`]),
        ...(idempotent ? [["idempotency-key", `k-${random.pick([1, count, count])}`] as const] : []),
        ...(schema === undefined ? [] : [["content-type", "application/json"] as const])
      ],
      members: schema === undefined ? undefined : membersOf(schema),
      body: undefined,
      isBent: false
    }
  }

  const ofBodies: ReadonlyArray<Spoil> = [
    spoilMember,
    spoilMember,
    spoilText,
    spoilText,
    spoilText,
    spoilMembers,
    spoilBytes
  ]
  const ofAll: ReadonlyArray<Spoil> = [
    spoilQuery,
    spoilParameter,
    spoilParameter,
    spoilPath,
    spoilMethod,
    spoilHeaders(keys),
    spoilHeaders(keys)
  ]

  const spoiled = (whole: Parts): Parts => {
    // A request without a body usually gets a defect elsewhere.
    const usable = whole.members === undefined && random.chance(0.9) ? ofAll : [...ofBodies, ...ofAll]
    return random.pick(usable)(random, whole)
  }

  /** Generates a draft for the wanted operation, or for the next one. */
  return (wanted?: Operation): Draft => {
    count += 1
    const operation = wanted ?? operations[count % operations.length] ?? random.pick(operations)
    const times = random.pick([0, 0, 0, 1, 1, 1, 1, 2, 3])
    const whole = Array.from({ length: times }).reduce<Parts>(spoiled, good(operation))
    const { method, segments, query, headers, members, body, isBent } = whole
    const questions = query.map(([name, value]) => `${name}=${value}`).join("&")
    return {
      method,
      target: `/${segments.join("/")}${questions === "" ? "" : `?${questions}`}`,
      headers,
      body: body ?? (members === undefined ? undefined : Buffer.from(textOf(whole), "latin1")),
      operation,
      isBent
    }
  }
}
