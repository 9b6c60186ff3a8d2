import { Clock, Effect, Option, Result } from "effect"
import { Installation } from "@satrail/core/accounts/Installation"
import { Stops } from "@satrail/core/accounts/Stops"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Throttle from "@satrail/core/base/Throttle"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import { LnurlOptions } from "@satrail/core/receiving/LnurlOptions"
import * as Destination from "@satrail/core/sending/Destination"
import { Recipients } from "@satrail/core/sending/Recipients"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as WithdrawalHooks from "@satrail/core/sending/WithdrawalHooks"
import * as Voucher from "./Voucher.ts"

/** Parameters that a wallet sends to claim a voucher, as received. */
export interface Claim {
  readonly k1: string
  /** The invoice to be paid. */
  readonly pr: string
  /** The caller's IP address. The rate of claims per network is limited. */
  readonly caller: string
}

const gone: { readonly [status in Exclude<Voucher.Status, "open">]: Voucher.VoucherRefused } = {
  claimed: new Voucher.VoucherRefused({ code: "claimed", message: "This voucher was already claimed" }),
  expired: new Voucher.VoucherRefused({ code: "expired", message: "This voucher has expired" }),
  canceled: new Voucher.VoucherRefused({ code: "canceled", message: "This voucher was canceled" })
}

/** Sending is paused or the company is frozen. The response does not reveal which. */
const stopped = new Voucher.VoucherRefused({
  code: "stopped",
  message: "This voucher cannot be claimed right now. Try again later"
})

/**
 * Serves wallets that use a voucher (LUD-03): they request its amount, and claim it with an invoice. A wallet
 * knows only the secret and learns nothing about the company.
 */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const recipients = yield* Recipients
  const stops = yield* Stops
  const { network, domain, linkHost = domain } = yield* Installation
  const { lnurl } = yield* LnurlOptions
  const entropy = yield* Entropy
  const mayBegin = yield* WithdrawalHooks.make
  const callerMayClaim = Throttle.callers(lnurl.perCaller)
  const now = Clock.currentTimeMillis

  const bySecret = Effect.fnUntraced(function* (k1: string) {
    const found = yield* nouns.named(Voucher.noun, { secretHash: SecretHash.of(k1) })
    return found._tag === "Some"
      ? found.value
      : yield* new Voucher.VoucherRefused({ code: "not_found", message: "No such voucher" })
  })

  const open = Effect.fnUntraced(function* (voucher: Voucher.Voucher) {
    if (voucher.status !== "open") return yield* gone[voucher.status]
    // The worker that voids expired vouchers may be behind.
    return voucher.expiresAtMillis <= (yield* now) ? yield* gone.expired : voucher
  })

  /** Returns the Change that claims the voucher with this invoice. Fails if the voucher may not pay this invoice. */
  const claimed = Effect.fnUntraced(
    function* (voucher: Voucher.Voucher, pr: string) {
      const destination = yield* Effect.fromResult(Destination.parse(pr, network))
      if (destination._tag !== "LightningInvoice" || destination.invoice.amount !== voucher.amount) {
        return yield* new Voucher.VoucherRefused({
          code: "invoice",
          message: `pr must be a Lightning invoice for exactly ${voucher.amount} millisatoshis`
        })
      }
      const recipient = yield* recipients.payable(voucher.companyId, destination, voucher.amount)
      const atMillis = yield* now
      const change = Voucher.claimed(
        voucher,
        { id: Id.fromMillis(atMillis, entropy), recipient: Destination.text(destination), network },
        atMillis
      )
      yield* mayBegin({
        spender: { company: { id: voucher.companyId } },
        recipient,
        withdrawal: change.writes[1].record
      })
      return change
    },
    Effect.catchTags({
      DestinationInvalid: ({ message }) => new Voucher.VoucherRefused({ code: "invoice", message }),
      DestinationRefused: ({ message }) => new Voucher.VoucherRefused({ code: "invoice", message }),
      RecipientRefused: Effect.die, // only external servers cause these two, and paying an invoice contacts none
      RecipientUnreachable: Effect.die
    })
  )

  /**
   * Returns whether the voucher was already claimed with this invoice, so that a wallet that lost the response
   * can repeat the claim.
   */
  const isPaidTo = Effect.fnUntraced(function* ({ companyId, withdrawalId }: Voucher.Voucher, pr: string) {
    if (withdrawalId === null) return false
    const found = yield* nouns.get(Withdrawal.noun, companyId, withdrawalId)
    const destination = Destination.parse(pr, network)
    return (
      Option.isSome(found) &&
      Result.isSuccess(destination) &&
      found.value.recipient === Destination.text(destination.success)
    )
  })

  const attempt = Effect.fnUntraced(function* (found: Voucher.Voucher, { k1, pr }: Claim) {
    yield* Effect.catchTag(stops.check("sending"), "Paused", () => stopped)
    const change = yield* claimed(yield* open(found), pr)
    yield* Effect.catchTags(journal.commit(change), {
      VoucherNotOpen: () => Effect.flatMap(bySecret(k1), open),
      CompanyFrozen: () => stopped
    })
  })

  return {
    offer: Effect.fnUntraced(function* (k1) {
      return { voucher: yield* open(yield* bySecret(k1)), callback: Voucher.callbackOf(linkHost) }
    }),
    claim: Effect.fnUntraced(function* (claim) {
      if (!callerMayClaim(claim.caller, yield* now).isWithin) {
        return yield* new Voucher.VoucherRefused({
          code: "too_many",
          message: "Too many claims. Try again in a moment"
        })
      }
      const voucher = yield* bySecret(claim.k1)
      if (yield* isPaidTo(voucher, claim.pr)) return
      yield* Effect.catchTag(
        attempt(voucher, claim),
        "VoucherRefused",
        // The same claim may have been committed, and its payment sent, since the voucher was read.
        Effect.fnUntraced(function* (refused) {
          if (!(yield* isPaidTo(yield* bySecret(claim.k1), claim.pr))) return yield* refused
        })
      )
    })
  }
})
