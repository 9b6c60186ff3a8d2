import type { Layer } from "effect"
import type { HttpApi } from "effect/http-api"
import { base } from "./api/Base.ts"
import * as Account from "./resources/Account.ts"
import * as Domains from "./resources/Domains.ts"
import * as Events from "./events/Feed.ts"
import * as Exports from "./resources/Exports.ts"
import * as Health from "./resources/Health.ts"
import * as LightningAddresses from "./resources/LightningAddresses.ts"
import * as Metrics from "./resources/Metrics.ts"
import * as OperatorBacklog from "./resources/OperatorBacklog.ts"
import * as OperatorCompanies from "./OperatorCompanies.ts"
import * as OperatorTokens from "./resources/OperatorTokens.ts"
import * as OwnApiKeys from "./resources/OwnApiKeys.ts"
import * as Rates from "./resources/Rates.ts"
import * as Reconciliation from "./resources/Reconciliation.ts"
import * as OperatorSection from "./OperatorSection.ts"
import * as Sections from "./Sections.ts"
import * as Status from "./OperatorStatus.ts"
import * as Stops from "./resources/Stops.ts"
import * as Suspense from "./resources/Suspense.ts"
import * as Feature from "./features/Feature.ts"
import { features } from "./features/index.ts"
import * as Section from "./api/Section.ts"

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
  typeof Reconciliation.section,
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
  Reconciliation.section,
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

type Layers = All[number]["layer"]

export const layerHandlers: Layer.Layer<Layer.Success<Layers>, Layer.Error<Layers>, Layer.Services<Layers>> = together.layer
