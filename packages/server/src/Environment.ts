import { type Redacted, Result, Schema } from "effect"
import * as Chain from "./environment/Chain.ts"
import * as Database from "./environment/Database.ts"
import * as Lightning from "./environment/Lightning.ts"
import * as Limits from "./environment/Limits.ts"
import * as Others from "./environment/Others.ts"
import * as Process from "./environment/Process.ts"
import * as Service from "./environment/Service.ts"
import * as Unknown from "./environment/Unknown.ts"
import * as Variable from "./environment/Variable.ts"

export type { ChainNode as Chain } from "./environment/Chain.ts"

/** The configuration is wrong. One line a variable: what it is called, what it got, what it wants. */
export class EnvironmentInvalid extends Schema.TaggedError<EnvironmentInvalid>()("EnvironmentInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return ["The configuration is not usable:", ...this.problems.map((problem) => `  ${problem}`)].join("\n")
  }
}

/** Everything a start needs to know. Each subject has a file of its own in `environment/`. */
export interface Environment
  extends Process.Process, Database.Database, Service.Service, Lightning.Lightning, Chain.Chain, Others.Others, Limits.Limits {}

/** Every variable, in the order in which the documentation has them. */
const variables: ReadonlyArray<Variable.Variable<unknown>> = [
  Process.listening,
  Database.variables,
  Service.identity,
  Lightning.variables,
  Chain.variables,
  Others.variables,
  Service.operator,
  Limits.variables,
  Process.life,
  { sandboxSeed: Others.sandboxSeed, ignored: Unknown.ignored }
].flatMap((group) => Object.values(group))

/** Variables that look like settings and are none: a line each, with the nearest right name. */
export const unknown = (env: Variable.Source): ReadonlyArray<string> =>
  Unknown.problems(
    env,
    variables.map(({ name }) => name)
  )

/** Nothing pretended mixes with real money. */
const onMainnet = ({ lightning, chain, rates, resolver, outboundAllow }: Environment, env: Variable.Source): ReadonlyArray<string> => [
  ...(lightning === "sandbox"
    ? ['LIGHTNING wants a real node on mainnet, and got "sandbox": pretend payments never mix with real money']
    : []),
  ...(chain === "sandbox" ? ['CHAIN wants a real chain on mainnet, and got "sandbox": pretend payments never mix with real money'] : []),
  ...(rates === "fixed" ? ['RATES wants "tickers" on mainnet, and got "fixed": nobody sells at a price that was made up'] : []),
  ...(resolver === "sandbox" ? ['RESOLVER wants "web" on mainnet, and got "sandbox": pretend payments never mix with real money'] : []),
  ...(outboundAllow.size > 0 ? ["SATRAIL_OUTBOUND_ALLOW is for developing, and cannot be used on mainnet"] : []),
  ...(env[Service.operator.demo.name] === "yes"
    ? [
        'SATRAIL_DEMO wants "no" on mainnet, and got "yes": a key in a file opens real money. Open companies with `satrail companies create`'
      ]
    : [])
]

/** Reads the environment. Reports every variable that is wrong, not only the first; a secret's value is not repeated. */
export const read = (env: Variable.Source): Result.Result<Environment, EnvironmentInvalid> => {
  const problems: Array<string> = [...unknown(env)]
  const reader = Variable.reader(env, problems)
  const [lightning, chain] = [Lightning.read(reader), Chain.read(reader)]
  const environment = {
    ...Process.read(reader),
    ...Database.read(reader),
    ...Service.read(reader, lightning.lightning === "sandbox" && chain.chain === "sandbox"),
    ...lightning,
    ...chain,
    ...Others.read(reader, lightning.lightning),
    ...Limits.read(reader)
  }
  if (environment.network === "mainnet") problems.push(...onMainnet(environment, env))
  return problems.length === 0 ? Result.succeed(environment) : Result.fail(new EnvironmentInvalid({ problems }))
}

/** The address of the database alone, for what needs nothing else. */
export const databaseUrl = (env: Variable.Source): Result.Result<Redacted.Redacted, EnvironmentInvalid> =>
  Result.mapError(Database.url(env), (problem) => new EnvironmentInvalid({ problems: [problem] }))

/** The table of variables, in Markdown, for the documentation. */
export const table = (): string =>
  [
    "| variable | default | what it is | what it wants |",
    "|---|---|---|---|",
    ...variables.map(
      ({ name, fallback, meaning, wants }) => `| \`${name}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${meaning} | ${wants} |`
    )
  ].join("\n")
