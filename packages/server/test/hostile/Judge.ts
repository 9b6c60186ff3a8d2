import { catalogue, type Code } from "@satrail/service/http/pages/Catalogue"
import { type Document, isObject, type Schema } from "@satrail/testing/OpenApi"
import type { Draft } from "./Draft.ts"

/** The response. */
export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

const isCode = (code: unknown): code is Code => typeof code === "string" && Object.hasOwn(catalogue, code)

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The problems of a body that is not an envelope. */
const notEnveloped = ({ status }: Answer, body: unknown): ReadonlyArray<string> => {
  if (!isObject(body)) return ["the body is not a JSON object"]
  const members = ["status", "message", "data", ...(status < 400 ? [] : ["error"])]
  const code = isObject(body["error"]) ? body["error"]["code"] : undefined
  return [
    ...(Object.keys(body).toSorted().join() === members.toSorted().join()
      ? []
      : [`the body's fields are ${Object.keys(body).join()}`]),
    ...(body["status"] === status && typeof body["message"] === "string"
      ? []
      : ["`status` or `message` is wrong"]),
    ...(status < 400 || (body["data"] === null && isCode(code) && catalogue[code].status === status)
      ? []
      : [`${String(code)} is not an error code for this status`])
  ]
}

/** Whether the route is for wallets, whose responses follow LUD-01 rather than the envelope. */
export const isWallets = ({ operation }: Draft): boolean =>
  /^\/(\.well-known\/lnurlp|lnurlp|lnurlw)(\/|$)/.test(operation.path)

const notForWallets = (body: unknown): ReadonlyArray<string> => {
  if (!isObject(body)) return ["the body is not a JSON object"]
  const isRefusal =
    body["status"] === "ERROR" && typeof body["reason"] === "string" && Object.keys(body).length === 2
  const isAnswer = ["tag", "pr"].some((name) => typeof body[name] === "string") || body["status"] === "OK"
  return isRefusal || isAnswer ? [] : ["the body is neither a wallet response nor a LUD-01 error"]
}

/** Whether the request was rejected. */
export const isRefusal = (draft: Draft, answer: Answer): boolean =>
  answer.status >= 400 || (isWallets(draft) && answer.text.startsWith('{"status":"ERROR"'))

/** Whether the request is a read. A read must not change anything, whatever the response. */
export const isRead = (draft: Draft): boolean =>
  ["GET", "HEAD", "OPTIONS"].includes(draft.method) &&
  !/callback/.test(draft.operation.path) &&
  !/callback/.test(draft.target)

/** The problems of a response. */
export const problems = ({ differences }: Document, draft: Draft, answer: Answer): ReadonlyArray<string> => {
  const { operation, isBent, method } = draft
  const { status, type, text } = answer
  if (status >= 500) return [`status ${status}`]
  if (method === "HEAD") return text === "" ? [] : ["the response to HEAD has a body"]
  // Browsers are redirected from the root page to the console, and from a path with a trailing slash.
  if (isBent && (status === 303 || status === 308)) return text === "" ? [] : ["the redirect has a body"]
  const body = json(text)
  if (isWallets(draft) && status === 200 && (!isBent || notForWallets(body).length === 0))
    return notForWallets(body)
  const schema: Schema | undefined = operation.answers.get(status)
  if (operation.others.get(status)?.includes(type) === true) return []
  if (!type.startsWith("application/json")) return [`the body is ${type}`]
  const enveloped = notEnveloped(answer, body)
  if (enveloped.length > 0 || isBent || isWallets(draft)) return enveloped
  return schema === undefined ? [`${operation.name} does not list ${status}`] : differences(body, schema)
}
