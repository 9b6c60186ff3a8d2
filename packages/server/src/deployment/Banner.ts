import * as PgClient from "@satrail/postgres/client/PgClient"
import path from "node:path"
import type * as Demo from "./Demo.ts"
import * as DemoFile from "./DemoFile.ts"
import type { Environment } from "./Environment.ts"
import * as Links from "./Links.ts"
import * as Simulated from "./Simulated.ts"
import { version } from "../base/Version.ts"

/** Values for the banner that are not in the environment. */
export interface Started {
  readonly url: string
  readonly operator: Demo.Operator
  /** The path of a link that signs in to the console once; empty if there is none. */
  readonly link?: string
  readonly demo: { readonly demo: DemoFile.Demo; readonly isNew: boolean } | undefined
}

const isSandbox = (environment: Environment) => Simulated.isSandbox(Simulated.of(environment))

const database = ({ databaseUrl, dataDirectory }: Environment) =>
  databaseUrl === undefined
    ? `embedded, in ${path.join(dataDirectory, "database")}: for evaluation, development and tests`
    : `PostgreSQL at ${PgClient.where(databaseUrl)}`

const node = ({ node }: Environment) => node?.at ?? "simulated"

const chain = ({ chainNode }: Environment) =>
  chainNode === undefined ? "simulated" : `${chainNode.source.at}, wallet in ${chainNode.walletFile}`

const rates = ({ rates }: Environment) =>
  rates === "fixed" ? "simulated and constant" : "the median of public tickers"

const others = ({ resolver }: Environment) => (resolver === "sandbox" ? "simulated" : "on the web")

/** Describes the deployment without passwords, for the banner and for `GET /operator/status`. */
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
      return `in ${DemoFile.fileIn(dataDirectory)}`
    case "Closed":
      return "none, so /operator is closed. Set SATRAIL_OPERATOR_TOKEN to open it"
  }
}

/** Returns example calls that contain the key. They are shown only if no money is real. */
const tryIt = ({ base_url: url, api_key: key }: DemoFile.Demo): ReadonlyArray<string> => {
  const call = (method: string, route: string, body?: string) =>
    `  curl -s ${method === "GET" ? "" : `-X ${method} `}${url}${route} -H "Authorization: Bearer $KEY"${body === undefined ? "" : ` -H "Content-Type: application/json" -d '${body}'`}`
  return [
    "",
    "Try it, in another terminal:",
    `  KEY=${key}`,
    call(
      "POST",
      "/v1/bitcoin/deposit/lightning-invoice",
      `{"amount":1000,"currency":"sats","description":"coffee"}`
    ),
    call("POST", "/sandbox/pay", `{"payment_request":"<the payment_request from above>"}`),
    call("GET", "/v1/transactions/balance")
  ]
}

const apiKey = ({ demo, isNew }: NonNullable<Started["demo"]>, environment: Environment) => {
  const file = DemoFile.fileIn(environment.dataDirectory)
  if (!isSandbox(environment)) return `of the company Demo, in ${file}`
  return isNew ? demo.api_key : `unchanged, in ${file}`
}

/** Browsers refuse passkeys at an address of numbers, and `localhost` is the same machine. */
const browserUrl = (environment: Environment, url: string): string =>
  Links.isLocal(environment) ? `http://localhost:${new URL(url).port}` : url

/** Returns the text printed when the service is ready. It contains no secret if any money is real. */
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
    ...(environment.console
      ? ([
          [
            "console",
            `${browserUrl(environment, url)}/console${link}${link === "" ? "" : " (signs you in, once)"}`
          ]
        ] as const)
      : []),
    ["documentation", `${browserUrl(environment, url)}/docs`],
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
