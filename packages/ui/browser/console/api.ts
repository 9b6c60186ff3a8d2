import type { Operations } from "./wire.ts"

// Everything that is asked of the service, in the types of its own document. The browser has a cookie for it; no script ever has the key.

export type Operation = keyof Operations

/** A bad answer: its `error.code`, and its message for people. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** No answer came: what was asked may have happened, or not. */
export class Unknown extends Error {}

const root = new URL(".", document.baseURI)
export const urlOf = (path: string): URL => new URL(path.replace(/^\//, ""), root)

/** What an answer says is at the service's public address, at the one that this page has: of `url` the path alone, and nothing of what is no address. */
export const here = (url: string): URL => urlOf(URL.canParse(url, root) ? new URL(url, root).pathname : "")

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null

const refusalOf = (status: number, answer: unknown): Refused => {
  const error = isObject(answer) && isObject(answer["error"]) ? answer["error"] : {}
  const message = isObject(answer) ? answer["message"] : undefined
  return new Refused(status, String(error["code"] ?? "internal"), typeof message === "string" ? message : `The service answered ${status}`)
}

/** One request of this page's own, which the header says. */
export const send = async (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  let response: Response
  try {
    response = await fetch(urlOf(path), {
      method,
      cache: "no-store",
      redirect: "error",
      headers: {
        accept: "application/json",
        "x-satrail-console": "1",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
  } catch {
    throw new Unknown("The service cannot be reached")
  }
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) throw refusalOf(response.status, answer)
  return { answer, link: response.headers.get("link") }
}

export interface Asked<K extends Operation> {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Operations[K]["query"]
  readonly body?: Operations[K]["body"]
  /** Makes it safe to ask again where no answer came. */
  readonly once?: string
}

/** What is asked for when the key has to be shown again. Set by the page that can ask for it; answers whether it was shown. */
export const stepUp: { ask: () => Promise<boolean> } = { ask: () => Promise.resolve(false) }

const pathOf = (pattern: string, params: Readonly<Record<string, string>>, query: object) => {
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

const asked = async <K extends Operation>(operation: K, { params = {}, query = {}, body, once }: Asked<K>) => {
  const [method = "", pattern = ""] = operation.split(" ")
  const path = pathOf(pattern, params, query)
  const headers = once === undefined ? {} : { "idempotency-key": once }
  const attempt = () => send(method, path, body, headers)
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "step_up_required" || !(await stepUp.ask())) throw error
    return attempt()
  }
}

/** Asks one operation of the OpenAPI documents. Where the key has to be shown again, the person is asked for it first. */
export const call = async <K extends Operation>(operation: K, more: Asked<K> = {}): Promise<Operations[K]["answer"]> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the server's own document says what it answers
  (await asked(operation, more)).answer as Operations[K]["answer"]

/** A page of a list, and the `cursor` of the next one. */
export const page = async <K extends Operation>(operation: K, more: Asked<K> = {}) => {
  const { answer, link } = await asked(operation, more)
  const [, next] = /<([^>]+)>; *rel="next"/.exec(link ?? "") ?? []
  return {
    // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
    answer: answer as Operations[K]["answer"],
    cursor: next === undefined ? undefined : (new URL(next, root).searchParams.get("cursor") ?? undefined)
  }
}
