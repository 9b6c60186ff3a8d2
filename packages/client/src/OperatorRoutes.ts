import { mapped } from "./Plain.ts"
import { read, routes } from "./Routes.ts"

// The operators' operations, and those of a company's back office, in the form of Routes.ts. They are apart, so that
// programs in browsers do not load them.

const table = `adjustments /operator/adjustments list get approve reject
apiKeys /operator/api-keys operatorGet=GET:# operatorRevoke=DELETE:# approve limit=PUT:#/limits updateLimits=PATCH:#/limits allowFrom=PUT:#/allowed-from rotate=CREATE:#/rotate connect=CREATE:#/connect walletConnection=GET:#/wallet-connection
backlog /operator all=GET:/backlog withdrawals=LIST:/withdrawals withdrawal=GET:/withdrawals# deposits=LIST:/deposits deposit=GET:/deposits#
companies /operator/companies keys=LIST:#/api-keys limits=GET:#/limits limit=PUT:#/limits updateLimits=PATCH:#/limits fees=GET:#/fees charge=PUT:#/fees updateFees=PATCH:#/fees domains=GET:#/domains verifyDomain=CREATE:#/domains cancelVouchers=POST:#/vouchers/cancel
companies /operator/companies balance=GET:#/transactions/balance transactions=LIST:#/transactions withdrawal=GET:#/transactions/withdrawals/{id} deposit=GET:#/transactions/deposits/{id} payer=GET:#/transactions/deposits/{id}/payer
companies /operator/companies invoices=LIST:#/bitcoin/deposit/lightning-invoice invoice=GET:#/bitcoin/deposit/lightning-invoice/{id} lightningAddresses=LIST:#/bitcoin/deposit/lightning-address lightningAddress=GET:#/bitcoin/deposit/lightning-address/{id}
companies /operator/companies onChainAddresses=LIST:#/bitcoin/deposit/on-chain onChainAddress=GET:#/bitcoin/deposit/on-chain/{id} vouchers=LIST:#/vouchers voucher=GET:#/vouchers/{id} statement=GET:#/statements/{id}
companies /operator/companies webhooks=GET:#/webhook-endpoints webhook=GET:#/webhook-endpoints/{id} deliveries=LIST:#/webhook-endpoints/{id}/deliveries transfers=LIST:#/transfers events=LIST:#/events event=GET:#/events/{id}
liquidity /operator/liquidity now=GET
lostWithdrawals /operator/withdrawals settle release book
operatorAudit /operator/audit list
operatorPeople /operator/people invite=CREATE list approve recover remove=DELETE:#
operatorTokens /operator/tokens issue=CREATE list revoke=DELETE:#
operatorWebhooks /operator/webhook-endpoints create get list=GET update delete test=ONCE enable disable replay=ONCE rotateSecret=ONCE:#/rotate-secret deliveries=LIST:#/deliveries
operatorWebhooks /operator/webhook-deliveries resend=ONCE
people  invite=CREATE list recover setRole=PUT:#/role remove=DELETE:#
platformKeys /operator/platform-keys issue=CREATE list approve revoke=DELETE:#
search  find=GET
search /operator/search all=GET
status /operator/status now=GET
stops /operator standing=GET:/pause pause=POST:/pause resume=POST:/resume
suspense /operator/suspense list assign
vouchers  cancelCreatedBy=POST:/cancel
withdrawals /operator/withdrawals operatorReject=POST:#/reject`

export const operatorRoutes = read(table)

/** All routes, for companies and operators. */
export const allRoutes: typeof routes = {
  ...routes,
  ...mapped(operatorRoutes, ([noun, verbs]) => [[noun, { ...routes[noun], ...verbs }]])
}
