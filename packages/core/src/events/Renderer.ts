import { Context } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Render } from "./Feed.ts"
import type { Place } from "./Notice.ts"

/** Renders events for sending. The package that serves events over HTTP provides this service. */
export class Renderer extends Context.Service<
  Renderer,
  { readonly render: Render; readonly idOf: (place: Place, companyId: CompanyId.CompanyId) => string }
>()("@satrail/core/events/Renderer") {}
