import * as PgClient from "@satrail/postgres/client/PgClient"
import path from "node:path"
import * as Demo from "./Demo.ts"
import type { Environment } from "./Environment.ts"
import * as Pretended from "./Pretended.ts"
import { version } from "../base/Version.ts"

/** What a start prints, besides what the environment says. */
export interface Started {
  readonly url: string
  readonly operator: Demo.Operator
  /** The demo company, where there is one, and whether this start made it. */
  /** What signs in to the console once, behind its address; empty where nothing does. */
  readonly link?: string
  readonly demo: { readonly demo: Demo.Demo; readonly isNew: boolean } | undefined
}

const isSandbox = (environment: Environment) => Pretended.isSandbox(Pretended.of(environment))

const database = ({ databaseUrl, dataDirectory }: Environment) =>
  databaseUrl === undefined
    ? `embedded, in ${path.join(dataDirectory, "database")}: for trying, developing and tests`
    : `PostgreSQL at ${PgClient.where(databaseUrl)}`

const node = ({ node }: Environment) => node?.at ?? "pretended"

const chain = ({ chainNode }: Environment) =>
  chainNode === undefined ? "pretended" : `${chainNode.source.at}, wallet in ${chainNode.walletFile}`

const rates = ({ rates }: Environment) => (rates === "fixed" ? "made up, and never change" : "what public tickers agree on")

const others = ({ resolver }: Environment) => (resolver === "sandbox" ? "pretended" : "on the web")

/** What it runs on, without a password: for the banner and for `GET /operator/status`. */
export const described = (environment: Environment) => ({
  version,
  database: database(environment),
  node: node(environment),
  chain: chain(environment),
  rates: rates(environment)
})

const operatorOf = (operator: Demo.Operator, { dataDirectory }: Environment) => {
  switch (operator._tag) {
    case "Configured":
      return "SATRAIL_OPERATOR_TOKEN"
    case "Made":
      return `in ${Demo.fileIn(dataDirectory)}`
    case "Closed":
      return "none: /operator is closed. Set SATRAIL_OPERATOR_TOKEN to open it"
  }
}

/** What to try, with the key in it: where no money is real. */
const tryIt = ({ base_url: url, api_key: key }: Demo.Demo): ReadonlyArray<string> => {
  const call = (method: string, route: string, body?: string) =>
    `  curl -s ${method === "GET" ? "" : `-X ${method} `}${url}${route} -H "Authorization: Bearer $KEY"${body === undefined ? "" : ` -H "Content-Type: application/json" -d '${body}'`}`
  return [
    "",
    "Try it, in another terminal:",
    `  KEY=${key}`,
    call("POST", "/v1/bitcoin/deposit/lightning-invoice", `{"amount":1000,"currency":"sats","description":"coffee"}`),
    call("POST", "/sandbox/pay", `{"payment_request":"<the payment_request from above>"}`),
    call("GET", "/v1/transactions/balance")
  ]
}

const apiKey = ({ demo, isNew }: NonNullable<Started["demo"]>, environment: Environment) => {
  const file = Demo.fileIn(environment.dataDirectory)
  if (!isSandbox(environment)) return `of the company Demo, in ${file}`
  return isNew ? demo.api_key : `the same as before, in ${file}`
}

/** What is printed when the service is ready: one block, without a secret wherever anything is real. */
export const text = (environment: Environment, { url, operator, demo, link = "" }: Started): string => {
  const isToy = isSandbox(environment)
  const rows: ReadonlyArray<readonly [name: string, value: string]> = [
    ["database", database(environment)],
    ...(isToy
      ? []
      : ([
          ["Lightning", node(environment)],
          ["chain", chain(environment)],
          ["others", others(environment)],
          ["rates", rates(environment)]
        ] as const)),
    ...(environment.console ? ([["console", `${url}/console${link}${link === "" ? "" : " (signs you in, once)"}`]] as const) : []),
    ["documentation", `${url}/docs`],
    ["operator token", operatorOf(operator, environment)],
    ...(demo === undefined ? [] : ([["API key", apiKey(demo, environment)]] as const))
  ]
  return [
    "",
    `satrail ${version} is running at ${url}, on ${isToy ? "a simulated network, without real money" : environment.network}.`,
    ...rows.map(([name, value]) => `  ${name.padEnd(15)} ${value}`),
    ...(isToy && demo?.isNew === true ? tryIt(demo.demo) : []),
    "",
    "Ctrl-C stops it.",
    ""
  ].join("\n")
}
