// Asks the compiler's language server for the hover texts that editors show.
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Readable, Writable } from "node:stream"
import { pathToFileURL } from "node:url"

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: { readonly contents?: { readonly value?: string } }
}

/** Returns the complete messages in a server's output, and the rest. */
const read = (bytes: Buffer): readonly [ReadonlyArray<Message>, Buffer] => {
  const messages: Array<Message> = []
  let rest = bytes
  for (;;) {
    const end = rest.indexOf("\r\n\r\n")
    const length = Number(
      /Content-Length: (\d+)/.exec(rest.subarray(0, Math.max(end, 0)).toString())?.[1] ?? NaN
    )
    if (end < 0 || Number.isNaN(length) || rest.length < end + 4 + length) return [messages, rest]
    messages.push(JSON.parse(rest.subarray(end + 4, end + 4 + length).toString()))
    rest = rest.subarray(end + 4 + length)
  }
}

const client = (server: ChildProcessByStdio<Writable, Readable, null>) => {
  const waiting = new Map<number, (message: Message) => void>()
  let rest = Buffer.alloc(0)
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  server.stdout.on("data", (bytes: Buffer) => {
    const [messages, left] = read(Buffer.concat([rest, bytes]))
    rest = Buffer.from(left)
    for (const message of messages) {
      if (message.id === undefined) continue
      // A request from the server, such as one to register a capability.
      if (message.method !== undefined) send({ id: message.id, result: null })
      else waiting.get(message.id)?.(message)
    }
  })
  let last = 0
  const ask = (method: string, params: object) => {
    const { promise, resolve } = Promise.withResolvers<Message>()
    const id = ++last
    waiting.set(id, resolve)
    send({ id, method, params })
    return promise
  }
  return { ask, tell: (method: string, params: object) => send({ method, params }) }
}

/** Patterns that each hover text must match: a sentence, and for most methods an example. */
const methods: Readonly<Record<string, ReadonlyArray<RegExp>>> = {
  "companies.create": [/company/, /client\.companies\.create\(/],
  "invoices.create": [/Creates a Lightning invoice\./, /client\.invoices\.create\(\{ amount: /],
  "invoices.get": [/Returns an? .*invoice/i],
  "withdrawals.confirm": [/Holds the amount/],
  on: [/at least once/]
}
const options: Readonly<Record<string, RegExp>> = {
  "invoices.create amount": /payer decides/,
  "invoices.create expirySeconds": /seconds/,
  "invoices.create metadata": /Your own data/,
  "invoices.create idempotencyKey": /once/,
  "checkouts.create returnUrl": /after payment/,
  "withdrawals.confirm destination": /Lightning address/
}

/** Returns a line of code, whose last name before `/` is hovered. */
const lineOf = (name: string): string => {
  const [method = "", option] = name.split(" ")
  // The language server shows no comments for the names in an object literal.
  return option === undefined
    ? `pay.${method}/**/`
    : `void (null! as Parameters<typeof pay.${method}>[0]).${option}/**/`
}

interface Host {
  readonly folder: string
  /** The module from which the application imports `satrail`. */
  readonly from: string
  /** The application's tsconfig.json. */
  readonly config: object
  readonly compiler: string
}

/** Returns the hover texts of methods and their options in an application's code. */
const hovers = async ({ folder, from, config, compiler }: Host): Promise<ReadonlyMap<string, string>> => {
  const names = [...Object.keys(methods), ...Object.keys(options)]
  const lines = names.map(lineOf)
  const code = [`import { satrail } from "${from}"`, "const pay = await satrail()", ...lines, ""].join("\n")
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, "hover.ts"), code)
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ ...config, include: ["hover.ts"] }))
  const server = spawn(process.execPath, [compiler, "--lsp", "--stdio"], {
    stdio: ["pipe", "pipe", "ignore"],
    cwd: folder
  })
  try {
    const { ask, tell } = client(server)
    const capabilities = { textDocument: { hover: { contentFormat: ["markdown"] } } }
    await ask("initialize", { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities })
    tell("initialized", {})
    const uri = pathToFileURL(path.join(folder, "hover.ts")).href
    tell("textDocument/didOpen", { textDocument: { uri, languageId: "typescript", version: 1, text: code } })
    const shown = new Map<string, string>()
    for (const [at, name] of names.entries()) {
      const { result } = await ask("textDocument/hover", {
        textDocument: { uri },
        position: { line: at + 2, character: (lines[at] ?? "").indexOf("/**/") - 1 }
      })
      shown.set(name, result?.contents?.value ?? "")
    }
    return shown
  } finally {
    server.kill()
  }
}

/** Returns the hover texts that lack their sentence or example, or whose signature contains an effect type. */
export const problems = async (host: Host): Promise<ReadonlyArray<string>> => {
  const shown = await hovers(host)
  const isWrong = (name: string, text: string): boolean =>
    [methods[name] ?? [], options[name] ?? []].flat().some((pattern) => !pattern.test(text)) ||
    (name !== "on" && /\bEffect\b|Brand</.test(text.split("```")[1] ?? ""))
  return [...shown].flatMap(([name, text]) => (isWrong(name, text) ? [`${name}: ${text}`] : []))
}
