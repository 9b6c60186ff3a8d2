import type { Readiness } from "@satrail/http/api/Readiness"
import { Companies } from "@satrail/core/accounts/Companies"
import * as Answer from "@satrail/core/ledger/Answer"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { SendingReads } from "@satrail/core/sending/SendingReads"
import { Clock, type Context, Effect, Layer, Logger, ManagedRuntime, Option, Redacted, Result } from "effect"
import { HttpServer } from "effect/http"
import { rmSync } from "node:fs"
import * as Environment from "../src/deployment/Environment.ts"
import * as Simulated from "../src/deployment/Simulated.ts"
import * as ReadinessChecks from "../src/serving/ReadinessChecks.ts"
import * as Server from "../src/serving/Server.ts"
import * as Telemetry from "../src/deployment/Telemetry.ts"
import * as Service from "./Service.ts"

export const operatorToken = "the operator's token of the whole service".replaceAll(" ", "-")

const machine = Effect.runSync(Clock.Clock)

/**
 * The whole service in this process, composed as for a normal start: an embedded database, the sandbox, workers
 * and a port.
 */
export const start = async (env: Readonly<Record<string, string>> = {}) => {
  const data = Service.directory()
  const environment = Result.getOrThrow(
    Environment.read({ PORT: "0", SATRAIL_DATA: data, SATRAIL_OPERATOR_TOKEN: operatorToken, ...env })
  )
  const logged: Array<string> = []
  const logger = Logger.layer([
    Logger.make(
      ({ message, cause }) => void logged.push(`${JSON.stringify(message)} ${JSON.stringify(cause)}`)
    )
  ])
  const runtime = ManagedRuntime.make(
    Layer.unwrap(
      Effect.contextWith(
        (services: Context.Context<Layer.Success<ReturnType<typeof Server.services>> | Readiness>) =>
          Effect.succeed(
            Layer.merge(
              // As in a real program, the server does not inherit the services' context.
              Layer.provide(
                Server.server(environment, Redacted.make(operatorToken), services),
                Layer.succeed(Clock.Clock, machine)
              ),
              Layer.provide(Server.workers(environment), Layer.succeedContext(services))
            )
          )
      )
    ).pipe(
      Layer.provideMerge(
        Layer.provideMerge(
          ReadinessChecks.readiness(Simulated.of(environment), Effect.succeed(true)),
          Server.services(environment)
        )
      ),
      Layer.provideMerge(Layer.merge(logger, Telemetry.spans(environment)))
    )
  )
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  const url = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  const ask = (method: string, route: string, options: Service.Ask = {}) =>
    Service.send(url + route, method, options)
  const operate = (route: string, body: unknown) =>
    ask("POST", `/operator${route}`, { key: operatorToken, body })

  const companyWith = async (
    plan: "free" | "paid",
    ...scopes: ReadonlyArray<string>
  ): Promise<Service.Company> => {
    const { id } = await runtime.runPromise(
      Effect.flatMap(
        Effect.flatMap(Companies, ({ open }) => open({ name: "Example Ltd", plan })),
        Answer.made
      )
    )
    const { data: issued } = await operate(`/companies/${id}/api-keys`, {
      name: "test",
      scopes: scopes.length === 0 ? ["admin"] : scopes
    })
    const { key } = issued
    return {
      id,
      key,
      get: (route) => ask("GET", route, { key }),
      post: (route, body, headers) =>
        ask("POST", route, { key, body, ...(headers !== undefined && { headers }) })
    }
  }

  return {
    url,
    data,
    domain: environment.domain,
    logged,
    ask,
    operate,
    companyWith,
    run: runtime.runPromise,
    /** Reads a withdrawal from the store. */
    withdrawal: (company: Service.Company, id: string) =>
      runtime.runPromise(
        Effect.map(
          Effect.flatMap(SendingReads, ({ withdrawal }) => withdrawal(CompanyId.make(company.id), id)),
          Option.getOrThrow
        )
      ),
    end: async () => {
      await runtime.dispose()
      rmSync(data, { recursive: true, force: true })
    }
  }
}
export type Whole = Awaited<ReturnType<typeof start>>
