import { Context } from "effect"
import { FindMyWay } from "effect/http"
import { routerConfig } from "../wire/Routing.ts"

/** How requests at some paths are taken in and answered. */
export interface Policy {
  /** Pages of which other origins may ask there from a browser: those of the service's `corsOrigins`, or of any. */
  readonly cors: "listed" | "any"
  /** The largest body that is read. */
  readonly maxBodyBytes: number
  /** An answer that has not begun after so long is 503, and what made it is interrupted. */
  readonly timeoutMillis: number
  /** Whether that goes for GET and HEAD, too. */
  readonly limitsReads: boolean
  /** What answers have in their headers, where the handler gives nothing of that name. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether letters behind a path's fixed beginning may be written as their numbers, `%61` for `a`. */
  readonly allowsEscapedLetters: boolean
  /** How many streams of an extension are open at once in one process. One more is refused. */
  readonly maxStreams: number
  /** A stream is ended after so long, however much there is to come: its reader asks again, as an EventSource does by itself. */
  readonly maxStreamMillis: number
}

/** What is mounted as one, and how many of its streams are open. */
export interface Mounted {
  readonly policy: Policy
  openStreams: number
}

interface Place {
  readonly mounted: Mounted
  /** The path as far as it is the same for every request. */
  readonly beginning: string
}

/** Every path that is served, with its methods. */
export interface Index {
  readonly add: (method: string, path: FindMyWay.PathInput, mounted: Mounted) => void
  /** What answers there, by any method. */
  readonly at: (url: string) => Mounted | undefined
  readonly methodsAt: (url: string) => ReadonlyArray<string>
  /** Whether letters may be written as their numbers there. */
  readonly allowsEscapedLetters: (url: string) => boolean
}

export class Paths extends Context.Service<Paths, Index>()("@satrail/http/edge/Paths") {}

const anyMethod = ["DELETE", "GET", "PATCH", "POST", "PUT"]

export const make = (): Index => {
  const methods = new Set<string>()
  const router = FindMyWay.make<Place>(routerConfig)
  const place = (url: string) => {
    for (const method of methods) {
      const found = router.find(method, url)
      if (found !== undefined) return found.handler
    }
    return undefined
  }
  return {
    add: (method, path, mounted) => {
      const [beginning = path] = /^[^:*]*/.exec(path) ?? []
      for (const one of method === "*" ? anyMethod : [method]) {
        methods.add(one)
        router.on(one, path, { mounted, beginning })
        // The framework's router takes what stands before a last `/*` for the same path.
        if (path.endsWith("/*")) router.on(one, `/${path.slice(1, -2)}`, { mounted, beginning })
      }
    },
    at: (url) => place(url)?.mounted,
    methodsAt: (url) => {
      const found = [...methods].filter((method) => router.find(method, url) !== undefined)
      return found.length === 0 ? [] : [...found, ...(found.includes("GET") ? ["HEAD"] : []), "OPTIONS"].toSorted()
    },
    allowsEscapedLetters: (url) => {
      const found = place(url)
      return found !== undefined && found.mounted.policy.allowsEscapedLetters && url.startsWith(found.beginning)
    }
  }
}
