import { readFileSync } from "node:fs"
import https from "node:https"
import type { Answer, Ask, Company } from "../Service.ts"

/** The service as reached from the Internet: by its domain name, through the proxy's TLS. */
export interface Public {
  readonly port: number
  readonly host: string
  /** The certificate file of the authority that signed the proxy's certificate. */
  readonly authority: string
}

export interface From extends Ask {
  /** The local address that sends the request. On Linux every address of 127.0.0.0/8 works. */
  readonly from?: string
  /** Receives the response's text so far, whenever more of it arrives. */
  readonly hears?: (text: string) => void
}

/** Sends a request with the path exactly as written. */
export const ask = (
  { port, host, authority }: Public,
  method: string,
  route: string,
  { from = "127.0.0.1", key, body, headers = {}, hears = () => {} }: From = {}
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
        response.setEncoding("utf8").on("data", (more: string) => hears((text += more)))
        response.once("error", reject)
        response.once("end", () => {
          const isJson = response.headers["content-type"]?.startsWith("application/json") === true
          const read = isJson ? JSON.parse(text) : {}
          const status = response.statusCode ?? 0
          resolve({
            status,
            headers: new Headers(),
            text,
            message: read.message,
            data: read.data,
            code: read.error?.code
          })
        })
      }
    )
    request.once("error", reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })

/** A company that connects over the Internet. */
export const company = (to: Public, id: string, key: string): Company => ({
  id,
  key,
  get: (route) => ask(to, "GET", route, { key }),
  post: (route, body, headers) =>
    ask(to, "POST", route, { key, body, ...(headers !== undefined && { headers }) })
})

/**
 * Requests an invoice at a Lightning address of the service like a wallet (LUD-16, LUD-06). Returns the
 * invoice, or the reason why none was returned.
 */
export const invoiceAt = async (
  to: Public,
  handle: string,
  msat: bigint,
  options: From = {}
): Promise<{ pr?: string; reason?: string }> => {
  const offer = JSON.parse((await ask(to, "GET", `/.well-known/lnurlp/${handle}`, options)).text)
  const { pathname, search } = new URL(offer.callback)
  return JSON.parse(
    (await ask(to, "GET", `${pathname}${search === "" ? "?" : `${search}&`}amount=${msat}`, options)).text
  )
}
