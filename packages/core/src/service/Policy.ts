import { Layer } from "effect"
import * as Bounds from "../accounts/Bounds.ts"
import * as Fees from "../accounts/Fees.ts"
import { Installation } from "../accounts/Installation.ts"
import * as Loosening from "../accounts/Loosening.ts"
import * as Duties from "../ledger/Duties.ts"
import * as Confirmations from "../receiving/Confirmations.ts"
import * as Lnurl from "../receiving/LnurlOptions.ts"
import * as LookupSchedule from "../receiving/LookupSchedule.ts"
import * as Reconciliation from "../reports/reconciliation/ReconciliationOptions.ts"
import * as Payment from "../sending/PaymentOptions.ts"
import * as Payout from "../sending/PayoutOptions.ts"

type Installed = Installation["Service"]
type Optional = Bounds.Bounds["Service"] &
  Loosening.Options &
  Duties.Options["Service"] &
  Fees.Options["Service"] &
  Lnurl.LnurlOptions["Service"] &
  LookupSchedule.Options["Service"] &
  Confirmations.Options["Service"] &
  Payment.PaymentOptions["Service"] &
  Payout.PayoutOptions["Service"] &
  Reconciliation.ReconciliationOptions["Service"]

/**
 * All settings of an operator: every number that limits or prices something. Each is documented where it is
 * used.
 */
export interface Settings extends Installed, Optional {}

/** Defaults for a small operator. `network` and `domain` have no defaults. */
export const defaults: Optional = {
  ...Bounds.defaults,
  ...Loosening.defaults,
  ...Duties.defaults,
  ...Fees.defaults,
  ...Lnurl.defaults,
  ...LookupSchedule.defaults,
  ...Confirmations.defaults,
  ...Payment.defaults,
  ...Payout.defaults,
  ...Reconciliation.defaults
}

/** Provides the settings to each service. */
export const layer = (settings: Settings) =>
  Layer.mergeAll(
    Layer.succeed(Installation, settings),
    Layer.succeed(Bounds.Bounds, settings),
    Layer.succeed(Loosening.Options, settings),
    Layer.succeed(Duties.Options, settings),
    Layer.succeed(Fees.Options, settings),
    Layer.succeed(Lnurl.LnurlOptions, settings),
    Layer.succeed(LookupSchedule.Options, settings),
    Layer.succeed(Confirmations.Options, settings),
    Layer.succeed(Payment.PaymentOptions, settings),
    Layer.succeed(Payout.PayoutOptions, settings),
    Layer.succeed(Reconciliation.ReconciliationOptions, settings)
  )
