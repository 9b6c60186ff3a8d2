import { type Issue, SatrailError, unreachable } from "./Errors.ts"
import { askedName, fail, isObject, parsed, plain, text } from "./Plain.ts"

/** Storage for the positions of consumers (`on`). Each function needs only one statement on your database. */
export interface Cursors {
  readonly load: (name: string) => string | null | undefined | Promise<string | null | undefined>
  readonly save: (name: string, place: string) => unknown
}

/** Settings of a client. */
export interface Options {
  /** The service's URL, such as `https://pay.example.com`. */
  readonly url: string | URL
  /**
   * A company's API key, or a platform key, which acts for the `company` of each call. A program with a key for each
   * of several companies passes a function, which receives the `company` and returns its key.
   */
  readonly key?: string | ((company: string | undefined) => string | Promise<string>)
  /** An operator's token, which `companies` requires. */
  readonly operatorToken?: string
  /** Maximum number of retries of a request that may succeed later. Default: 4. */
  readonly retries?: number
  /** Time limit of one attempt. Default: 35,000 ms. */
  readonly timeoutMillis?: number
  /**
   * Maximum wait between attempts. If `Retry-After` is longer, the error is thrown immediately. Default:
   * 60,000 ms.
   */
  readonly maxWaitMillis?: number
  /** Required by `on`. */
  readonly cursors?: Cursors
  /**
   * Receives the errors of consumers (`on`). A consumer retries after each error, unless the event was deleted
   * (`not_found`). Default: `console.error`.
   */
  readonly onError?: (error: unknown, consumer: string) => void
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** The client's environment. Tests provide their own. */
export interface World {
  /** Sleeps for this long, or until `signal` is aborted. */
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>
  readonly random: () => number
}

export const world: World = {
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", end)
        resolve()
      }
      const timer = setTimeout(end, millis > 2e9 ? 2e9 : millis) // a timer ends immediately from 2^31 on
      signal?.addEventListener("abort", end)
      if (signal?.aborted) end()
    }),
  random: Math.random
}

export interface Ask {
  readonly method: string
  /** The path below `url`, including the query. */
  readonly path: string
  /** The key. A platform key is followed by a tab and the company that it acts for. */
  readonly key: string
  readonly body?: object | undefined
  /** Makes a create request safe to repeat. */
  readonly idempotencyKey?: string | undefined
  /** Whether the idempotency key was chosen by the client, not by the caller. */
  readonly isOwnKey?: boolean | undefined
  /** Whether the request must not be repeated if it may have taken effect. */
  readonly isOnce?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface Transport {
  /**
   * Sends a request and repeats it while that is safe and may help. Throws `SatrailError` unless the response
   * is 2xx.
   */
  readonly send: (ask: Ask) => Promise<{ readonly answer: unknown; readonly headers: Answer["headers"] }>
  /** Makes one attempt. Returns the response without reading its body. */
  readonly open: (ask: Ask) => Promise<Response>
  /** Returns the time to wait before the next attempt. */
  readonly waitMillis: (attempt: number, error: SatrailError) => number
  readonly sleep: World["sleep"]
}

type Fields = Readonly<Record<string, unknown>>

const json = "application/json"

const notOurs = ({ status, headers }: Answer, to = headers.get("location") ?? ""): string =>
  `Not a satrail response (${status}${to && ` to ${to}`}).`

const retryAfter = (headers: Answer["headers"]): number | undefined => {
  const said = headers.get("retry-after") ?? ""
  const millis = +said * 1000 || Date.parse(said) - Date.now()
  return millis < 0 ? 0 : millis || undefined
}

/** Converts the name of an issue's field, unless it is a key of metadata. */
const named = (issue: Issue): Issue => ({
  ...issue,
  path: issue.path.replace(/^(?!metadata\.).*/, askedName)
})

/** A response, as far as an error is read from it. */
type Answer = Pick<Response, "status" | "json"> & { readonly headers: Pick<Headers, "get"> }

/** Converts an error response to an error. */
export const refusalOf = async (
  response: Answer,
  idempotencyKey: string | undefined
): Promise<SatrailError> => {
  // A browser hides the status of a redirect.
  const status = response.status || 302
  const { error, message }: Fields = Object(await response.json().catch(() => undefined))
  const isOurs = isObject(error)
  const {
    code,
    issues,
    request_id: requestId,
    doc_url: _,
    ...others
  } = isOurs ? error : status === 503 ? { code: "store_unavailable" } : {}
  return new SatrailError({
    status,
    idempotencyKey,
    retryAfterMillis: retryAfter(response.headers),
    code: text(code) ?? "unreadable",
    message: isOurs ? (text(message) ?? "") : notOurs(response),
    // Another program's issues have other fields.
    issues: [issues]
      .flat()
      .filter((one): one is Issue => text(Object(one).path) !== undefined)
      .map(named),
    requestId: text(requestId),
    // oxlint-disable-next-line typescript/consistent-type-assertions -- an object has plain members
    details: plain(others) as SatrailError["details"]
  })
}

export const make = (options: Options, { sleep, random }: World = world): Transport => {
  const { retries = 4, timeoutMillis = 35_000, maxWaitMillis = 60_000, fetch: request = fetch } = options
  const base = String(options.url).replace(/\/+$/, "")

  const open = async ({
    method,
    path,
    key,
    body,
    idempotencyKey,
    headers,
    signal
  }: Ask): Promise<Response> => {
    // Not checked earlier, because a build may load the program's modules without its settings.
    if (!/^https?:\/\/./i.test(base)) fail("url must begin with http(s)://")
    // A file's last line break is no part of a key.
    const [secret, account] = `${key}`.trim().split("\t")
    // The error of `fetch` would contain the key, and would look like a lost connection.
    if (/[^ -~\x80-ÿ]/.test(`${idempotencyKey}${secret}${account}`)) fail("bad character in key")
    const init = {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(account && { "satrail-account": account }),
        accept: json,
        ...(body && { "content-type": json }),
        ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
        ...headers
      },
      body: JSON.stringify(body) ?? null,
      // Another server must receive neither key nor body, and must not answer for the service.
      redirect: "manual" as const,
      signal: signal ?? null
    }
    const response = await request(`${base}${path}`, init).catch((cause: unknown) =>
      lost(cause, idempotencyKey)
    )
    if (response.ok && !response.redirected) return response
    throw await refusalOf(response, idempotencyKey)
  }

  // The reason, such as ECONNREFUSED, is the code of the cause of the error that Node's fetch throws.
  const lost = (cause: unknown, idempotencyKey: string | undefined): never =>
    unreachable(`No response from ${base}: ${Object(cause).cause?.code ?? cause}`, cause, idempotencyKey)

  /** Makes one attempt and reads the whole response. */
  const attempt = async (ask: Ask) => {
    const { signal, idempotencyKey } = ask
    const limit = AbortSignal.timeout(timeoutMillis)
    try {
      signal?.throwIfAborted()
      const response = await open({ ...ask, signal: signal ? AbortSignal.any([signal, limit]) : limit })
      const body = await response.text().catch((cause: unknown) => lost(cause, idempotencyKey))
      return {
        answer: body === "" ? undefined : decoded(body, response, idempotencyKey),
        headers: response.headers
      }
    } catch (error) {
      // If the caller aborted the request, throw the caller's reason.
      signal?.throwIfAborted()
      throw error
    }
  }

  const waitMillis = (attempt: number, { retryAfterMillis }: SatrailError): number =>
    retryAfterMillis === undefined
      ? Math.min(4000, 125 * 2 ** attempt) * (1 + random())
      : // Add a random delay, so that clients do not retry simultaneously. Never retry earlier than the service requested.
        retryAfterMillis * (1 + random() / 5)

  const send = async (ask: Ask) => {
    for (let count = 0, current = ask; ; count++) {
      try {
        return await attempt(current)
      } catch (error) {
        if (!(error instanceof SatrailError)) throw error
        if (error.code === "idempotency_not_supported" && current.isOwnKey) {
          // The request had no effect. Send it once more, without a key and without further retries.
          current = { ...current, idempotencyKey: undefined, isOwnKey: false, isOnce: true }
          continue
        }
        const wait = waitMillis(count, error)
        const canRepeat = error.isRetryable && !(error.isUnknown && current.isOnce)
        if (!canRepeat || count >= retries || wait > maxWaitMillis) throw error
        await sleep(wait, ask.signal)
      }
    }
  }

  return { send, open, waitMillis, sleep }
}

const decoded = (body: string, response: Response, idempotencyKey: string | undefined): unknown => {
  const answer = parsed(body)
  if (isObject(answer)) return answer
  throw new SatrailError({
    status: response.status,
    code: "unreadable",
    message: notOurs(response),
    idempotencyKey
  })
}
