import { Effect, Layer } from "effect"
import { Kinds } from "@satrail/http/api/Credentials"
import type { HttpApi } from "effect/http-api"
import { base } from "@satrail/http/api/Base"
import * as Account from "@satrail/http/resources/Account"
import * as Domains from "@satrail/http/resources/Domains"
import * as Events from "./events/Feed.ts"
import * as Exports from "@satrail/http/resources/Exports"
import * as Health from "@satrail/http/resources/Health"
import * as LightningAddresses from "@satrail/http/resources/LightningAddresses"
import * as Metrics from "@satrail/http/resources/Metrics"
import * as OperatorBacklog from "./OperatorBacklog.ts"
import * as OperatorCompanies from "./OperatorCompanies.ts"
import * as OperatorTokens from "@satrail/http/resources/OperatorTokens"
import * as OwnApiKeys from "@satrail/http/resources/OwnApiKeys"
import * as Rates from "@satrail/http/resources/Rates"
import * as OperatorSection from "./OperatorSection.ts"
import * as Sections from "./Sections.ts"
import * as Status from "./OperatorStatus.ts"
import * as Stops from "@satrail/http/resources/Stops"
import * as Suspense from "@satrail/http/resources/Suspense"
import * as Feature from "@satrail/http/api/Feature"
import { features } from "../features/http.ts"
import * as Section from "@satrail/http/api/Section"

/**
 * Sections in document order. The type refers to each section by name, because the full declarations would take
 * 700 kB.
 */
type All = readonly [
  typeof Sections.receive,
  typeof LightningAddresses.section,
  typeof Domains.section,
  typeof Sections.send,
  ...Feature.Joined<typeof features, "sections">,
  typeof Sections.read,
  typeof Events.section,
  typeof Rates.section,
  typeof Account.section,
  typeof OwnApiKeys.section,
  typeof OperatorSection.section,
  typeof Status.section,
  typeof Stops.section,
  typeof OperatorCompanies.section,
  typeof OperatorBacklog.section,
  typeof OperatorTokens.section,
  typeof Exports.operatorSection,
  typeof OperatorBacklog.reconciliation,
  typeof Suspense.section,
  ...Feature.Joined<typeof features, "operatorSections">,
  typeof Domains.tls,
  typeof Health.section,
  typeof Metrics.section
]

const all: All = [
  Sections.receive,
  LightningAddresses.section,
  Domains.section,
  Sections.send,
  ...Feature.joined(features, "sections"),
  Sections.read,
  Events.section,
  Rates.section,
  Account.section,
  OwnApiKeys.section,
  OperatorSection.section,
  Status.section,
  Stops.section,
  OperatorCompanies.section,
  OperatorBacklog.section,
  OperatorTokens.section,
  Exports.operatorSection,
  OperatorBacklog.reconciliation,
  Suspense.section,
  ...Feature.joined(features, "operatorSections"),
  Domains.tls,
  Health.section,
  Metrics.section
]

const together = Section.together(all)

export type Groups = All[number]["group"]
export interface Api extends HttpApi.HttpApi<"satrail", Groups> {}

/** The HTTP API. A host adds groups with `Api.add(group)`. */
export const Api: Api = base.add(...together.groups)

/**
 * The API with the sections of a program's own features, the layer with their handlers, and their other routes, and their kinds of credential. Pass
 * them to `Http.layerOf`. They have no types of their own here, because only a list that the compiler knows has them.
 */
export const make = (own: ReadonlyArray<Feature.Feature>) => {
  const sections = own.flatMap(({ sections = [], operatorSections = [] }) => [
    ...sections,
    ...operatorSections
  ])
  return {
    // oxlint-disable-next-line typescript/consistent-type-assertions -- see above
    api: sections.reduce<Api>((api, { group }) => api.add(group) as never, Api),
    // oxlint-disable-next-line typescript/consistent-type-assertions -- see above; the service provides what they need
    layer: Layer.mergeAll(Layer.empty, ...sections.map(({ layer }) => layer)) as Layer.Layer<never>,
    extensions: Feature.extensions(own),
    // oxlint-disable-next-line typescript/consistent-type-assertions -- see above; provide it below the middleware
    credentials: Layer.effect(
      Kinds,
      Effect.all(own.flatMap(({ credentials = [] }) => credentials))
    ) as Layer.Layer<never>
  }
}

type Layers = All[number]["layer"]

export const layerHandlers: Layer.Layer<
  Layer.Success<Layers>,
  Layer.Error<Layers>,
  Layer.Services<Layers>
> = together.layer
