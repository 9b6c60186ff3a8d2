import * as Addresses from "./Addresses.ts"
import { base } from "./Base.ts"
import * as DomainRoutes from "./DomainRoutes.ts"
import * as Health from "./Health.ts"
import * as Metrics from "./Metrics.ts"
import * as Operator from "./Operator.ts"
import * as Rates from "./Rates.ts"
import * as Read from "./Read.ts"
import * as Receive from "./Receive.ts"
import * as ReconciliationRoutes from "./ReconciliationRoutes.ts"
import * as Send from "./Send.ts"
import * as VoucherRoutes from "./VoucherRoutes.ts"

/** Everything that can be asked over HTTP. A host adds groups of its own by `Api.add(group)`. */
export const Api = base.add(
  Receive.Group,
  Addresses.Group,
  DomainRoutes.Group,
  Send.Group,
  VoucherRoutes.Group,
  Read.Group,
  Rates.Group,
  Operator.Group,
  ReconciliationRoutes.Group,
  DomainRoutes.TlsGroup,
  Health.Group,
  Metrics.Group
)
