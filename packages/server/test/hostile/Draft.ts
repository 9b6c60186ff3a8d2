import type { Operation } from "@satrail/testing/OpenApi"

export type Header = readonly [name: string, value: string]

/** A request before it is sent. Each character of its strings stands for one byte. */
export interface Draft {
  readonly method: string
  /** The target of the request line. */
  readonly target: string
  readonly headers: ReadonlyArray<Header>
  readonly body: Buffer | undefined
  /** The operation to request. */
  readonly operation: Operation
  /**
   * True if the method, path or headers were changed, so that the request may mean something else. Any envelope
   * is then a valid response.
   */
  readonly isBent: boolean
}

/** The bytes of a JavaScript string, including lone surrogates, which are not valid UTF-8. */
export const bytesOf = (text: string): string =>
  Array.from(text, (character) =>
    /^[\ud800-\udfff]$/.test(character)
      ? Buffer.from([
          0xe0 | (character.charCodeAt(0) >> 12),
          0x80 | ((character.charCodeAt(0) >> 6) & 63),
          0x80 | (character.charCodeAt(0) & 63)
        ])
      : Buffer.from(character)
  )
    .map((bytes) => bytes.toString("latin1"))
    .join("")

/** The bytes sent over the wire. */
export const wireOf = ({ method, target, headers, body }: Draft): Buffer =>
  Buffer.concat([
    Buffer.from(
      `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}`,
      "latin1"
    ),
    Buffer.from(body === undefined ? "\r\n" : `Content-Length: ${body.length}\r\n\r\n`),
    body ?? Buffer.alloc(0)
  ])

/**
 * The same request as an application's web server would pass it on. Undefined if it cannot be represented by a
 * `Request`.
 */
export const requestOf = ({ method, target, headers, body }: Draft): Request | undefined => {
  if (!target.startsWith("/") || target.startsWith("//")) return undefined
  try {
    const entries = headers.map(([name, value]): [string, string] => [name, value])
    return new Request(`http://service${target}`, {
      method,
      headers: entries,
      body: body === undefined ? null : Uint8Array.from(body)
    })
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** The complete bytes in readable form. */
export const show = (bytes: Buffer): string => JSON.stringify(bytes.toString("latin1"))

/** Shorter versions of a text, starting with the shortest. */
export function* cuts(text: string): Generator<string> {
  for (let size = text.length; size >= 1; size = Math.floor(size / 2))
    for (let start = 0; start < text.length; start += size)
      yield text.slice(0, start) + text.slice(start + size)
}

/** Simpler versions of the request. */
export function* simpler(draft: Draft): Generator<Draft> {
  const { headers, body, target } = draft
  if (body !== undefined) yield { ...draft, body: undefined }
  for (const [at] of headers.entries()) yield { ...draft, headers: headers.toSpliced(at, 1) }
  const [path = "", ...query] = target.split("?")
  for (const shorter of query.length === 0 ? [] : cuts(query.join("?")))
    yield { ...draft, target: shorter === "" ? path : `${path}?${shorter}` }
  if (body !== undefined)
    for (const shorter of cuts(body.toString("latin1")))
      yield { ...draft, body: Buffer.from(shorter, "latin1") }
  for (const [at, [name, value]] of headers.entries())
    for (const shorter of cuts(value)) yield { ...draft, headers: headers.with(at, [name, shorter]) }
}

/** Maximum number of simpler candidates, so that a failure is reported within seconds. */
const maxTries = 2000

/** Returns the simplest value found that still fails. */
export const shortest = async <A>(
  value: A,
  simpler: (value: A) => Iterable<A>,
  fails: (value: A) => Promise<boolean>
): Promise<A> => {
  let best = value
  let tries = 0
  for (let found = true; found;) {
    found = false
    for (const next of simpler(best)) {
      if (++tries > maxTries) return best
      if (!(await fails(next))) continue
      best = next
      found = true
      break
    }
  }
  return best
}
