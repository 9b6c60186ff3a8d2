import * as JsonText from "@satrail/core/base/JsonText"
import { type Api, type Asked, type Operation, pathOf, type Reads, Refused } from "@satrail/ui/console/Api"
import type { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { consoleHeader } from "../edge/Exchange.ts"
import type { Answered, Inside } from "../edge/Inside.ts"
import { isObject } from "../wire/Json.ts"

export const path = "/console"

const textIn = (value: unknown, name: string): string | undefined => {
  const member = isObject(value) ? value[name] : undefined
  return typeof member === "string" ? member : undefined
}

const refusalOf = ({ status, text }: Answered): Refused => {
  const answer = JsonText.parsed(text)
  const error = isObject(answer) ? answer["error"] : undefined
  return new Refused(
    status,
    textIn(error, "code") ?? "internal",
    textIn(answer, "message") ?? `The service responded with ${status}`,
    isObject(error) ? error : {}
  )
}

const cursorIn = ({ headers }: Answered): string | undefined => {
  const [, next] = /<([^>]+)>; *rel="next"/.exec(headers["link"] ?? "") ?? []
  return next === undefined
    ? undefined
    : (new URL(next, "http://inside").searchParams.get("cursor") ?? undefined)
}

type Run = <A>(effect: Effect.Effect<A>) => Promise<A>

/** Headers that mark a request as the console's own. */
export const own = { "sec-fetch-site": "same-origin", [consoleHeader]: "1", accept: "application/json" }

/** Sends requests as the user who sent `request`. Fails with `Refused` unless the request succeeds. */
export const sending =
  (inside: Inside, run: Run, request: HttpServerRequest.HttpServerRequest) =>
  async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answered> => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const answer = await run(inside(request, { method, path, body: text, headers: { ...own, ...headers } }))
    if (answer.status >= 300) throw refusalOf(answer)
    return answer
  }
export type Send = ReturnType<typeof sending>

export const dataOf = ({ text }: Answered): unknown => {
  const answer = JsonText.parsed(text)
  return isObject(answer) ? answer["data"] : undefined
}

/** Maximum length of a response that is kept. Longer ones, of which an export reads many, are not shared. */
const mostKept = 250_000

/** The API for one console request. The parts of a page share the results of reads. */
export const make = (send: Send, reads: Reads): Api => {
  const read = new Map<string, Promise<Answered>>()
  const asked = <K extends Operation>(operation: K, { params = {}, query = {}, body, once }: Asked<K>) => {
    const [method = "", pattern = ""] = operation.split(" ")
    const path = pathOf(pattern, params, query)
    if (method !== "GET") {
      read.clear()
      return send(method, path, body, once === undefined ? {} : { "idempotency-key": once })
    }
    const kept = read.get(path)
    if (kept !== undefined) return kept
    const answer = send(method, path).then((answered) => {
      if (answered.text.length > mostKept) read.delete(path)
      return answered
    })
    read.set(path, answer)
    return answer
  }
  return {
    ...reads,
    call: async (operation, more = {}) =>
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the OpenAPI document declares the response
      dataOf(await asked(operation, more)) as never,
    page: async (operation, more = {}) => {
      const answer = await asked(operation, more)
      // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
      return { data: dataOf(answer) as never, next: cursorIn(answer), characters: answer.text.length }
    },
    confirm: async (credential) => {
      await send("POST", `${path}/session/step-up`, { credential }).catch((error: unknown) => {
        // A wrong key here does not end the session.
        throw error instanceof Refused && error.status === 401
          ? new Refused(403, error.code, error.message)
          : error
      })
    }
  }
}
