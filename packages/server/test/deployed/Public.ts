import { readFileSync } from "node:fs"
import https from "node:https"
import type { Answer, Ask, Company } from "../Service.ts"

/** The service as the Internet has it: over the proxy's TLS, by its name. */
export interface Public {
  readonly port: number
  readonly host: string
  /** The file with the certificate of who signed the proxy's. */
  readonly authority: string
}

export interface From extends Ask {
  /** Which of this machine's addresses asks: on Linux each of 127.0.0.0/8 is one. */
  readonly from?: string
}

/** Asks it; the path goes as it is written. */
export const ask = (
  { port, host, authority }: Public,
  method: string,
  route: string,
  { from = "127.0.0.1", key, body, headers = {} }: From = {}
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: "127.0.0.1",
        localAddress: from,
        port,
        servername: host,
        ca: readFileSync(authority),
        method,
        path: route,
        agent: false,
        headers: {
          host,
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers
        }
      },
      (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (more: string) => (text += more))
        response.once("error", reject)
        response.once("end", () => {
          const isJson = response.headers["content-type"]?.startsWith("application/json") === true
          const read = isJson ? JSON.parse(text) : {}
          const status = response.statusCode ?? 0
          resolve({ status, headers: new Headers(), text, message: read.message, data: read.data, code: read.error?.code })
        })
      }
    )
    request.once("error", reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })

/** A company that asks over the Internet. */
export const company = (to: Public, id: string, key: string): Company => ({
  id,
  key,
  get: (route) => ask(to, "GET", route, { key }),
  post: (route, body, headers) => ask(to, "POST", route, { key, body, ...(headers !== undefined && { headers }) })
})

/** What a wallet does with a Lightning address of the service (LUD-16, LUD-06): an invoice for so much, or why there is none. */
export const invoiceAt = async (
  to: Public,
  handle: string,
  msat: bigint,
  options: From = {}
): Promise<{ pr?: string; reason?: string }> => {
  const offer = JSON.parse((await ask(to, "GET", `/.well-known/lnurlp/${handle}`, options)).text)
  const { pathname, search } = new URL(offer.callback)
  return JSON.parse((await ask(to, "GET", `${pathname}${search === "" ? "?" : `${search}&`}amount=${msat}`, options)).text)
}
