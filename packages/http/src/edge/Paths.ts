import { Context } from "effect"
import { FindMyWay } from "effect/http"
import { routerConfig } from "../wire/Routing.ts"

/** Policy for accepting and answering requests to certain paths. */
export interface Policy {
  /** Origins whose pages can call these paths: the service's `corsOrigins`, or any. */
  readonly cors: "listed" | "any"
  /** Maximum body size in bytes. */
  readonly maxBodyBytes: number
  /** A request whose response has not started within this time returns 503, and its work is interrupted. */
  readonly timeoutMillis: number
  /** Whether the time limit also applies to GET and HEAD. */
  readonly limitsReads: boolean
  /** Default response headers. A handler's own headers take precedence. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether letters after a path's fixed beginning can be percent-encoded, such as `%61` for `a`. */
  readonly allowsEscapedLetters: boolean
  /** Maximum number of open streams per extension and process. Further streams are rejected. */
  readonly maxStreams: number
  /** Maximum duration of a stream. The reader then reconnects, as an EventSource does by itself. */
  readonly maxStreamMillis: number
}

/** Routes mounted together, and the number of their open streams. */
export interface Mounted {
  readonly policy: Policy
  openStreams: number
}

interface Place {
  readonly mounted: Mounted
  /** The beginning of the path, before any parameter. */
  readonly beginning: string
}

/** Index of all served paths with their methods. */
export interface Index {
  readonly add: (method: string, path: FindMyWay.PathInput, mounted: Mounted) => void
  /** Returns the routes at a URL, for any method. */
  readonly at: (url: string) => Mounted | undefined
  readonly methodsAt: (url: string) => ReadonlyArray<string>
  /** Returns whether letters in this URL can be percent-encoded. */
  readonly allowsEscapedLetters: (url: string) => boolean
}

export class Paths extends Context.Service<Paths, Index>()("@satrail/http/edge/Paths") {}

const anyMethod = ["DELETE", "GET", "PATCH", "POST", "PUT"]

/** Most requests don't need the index, so it is built when one first does. */
export const make = (): Index => {
  const methods = new Set<string>()
  const router = FindMyWay.make<Place>(routerConfig)
  let added: Array<Parameters<Index["add"]>> = []
  const indexed = () => {
    for (const [method, path, mounted] of added) {
      const [beginning = path] = /^[^:*]*/.exec(path) ?? []
      for (const one of method === "*" ? anyMethod : [method]) {
        methods.add(one)
        router.on(one, path, { mounted, beginning })
        // The framework's router treats the part before a final `/*` as the same path.
        if (path.endsWith("/*")) router.on(one, `/${path.slice(1, -2)}`, { mounted, beginning })
      }
    }
    added = []
    return router
  }
  const place = (url: string) => {
    const router = indexed()
    for (const method of methods) {
      const found = router.find(method, url)
      if (found !== undefined) return found.handler
    }
    return undefined
  }
  return {
    add: (...route) => void added.push(route),
    at: (url) => place(url)?.mounted,
    methodsAt: (url) => {
      const router = indexed()
      const found = [...methods].filter((method) => router.find(method, url) !== undefined)
      return found.length === 0
        ? []
        : [...found, ...(found.includes("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted()
    },
    allowsEscapedLetters: (url) => {
      const found = place(url)
      return (
        found !== undefined && found.mounted.policy.allowsEscapedLetters && url.startsWith(found.beginning)
      )
    }
  }
}
