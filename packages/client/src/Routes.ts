// The service's operations, by resource and verb. `CREATE` is a POST with an idempotency key. `ONCE` is a POST
// that is not repeated if its result is unknown. The text after `:` is appended to the resource's path.

type Verbs = Readonly<Record<string, string>>

const usual: Verbs = { create: "CREATE", get: "GET:#", list: "LIST", update: "PATCH:#", delete: "DELETE:#" }

const makes = "create get list"
const cancels = `${makes} cancel`
const deposit = "bitcoin/deposit/"
const ofDeposit = "=GET:/deposits#"

/**
 * Each line has a resource, its path below `/v1/`, and its verbs as `verb=route`. An empty path is the
 * resource's name. A verb without a route uses the default route of that verb, which is `POST:#/verb` for most
 * verbs. `ONCE` alone means `ONCE:#/verb`. `#` stands for `/{id}`, and the verb
 * follows a `/` at the end.
 */
const table = `account  get=GET
apiKeys api-keys ${makes} revoke=DELETE:#
audit  list
checkouts  ${cancels}
companies /operator/companies ${makes} update freeze unfreeze issueKey=CREATE:#/api-keys
domains  claim=CREATE list=GET
events  get list
invoices ${deposit}lightning-invoice ${cancels} settle
lightningAddresses ${deposit}lightning-address ${makes} update delete qr=GET:#/
offers ${deposit}offer ${makes}
onChainAddresses ${deposit}on-chain ${makes}
rates  list=GET
refunds  ${cancels}
statements  get
transfers  ${makes} return=CREATE:#/
transactions  balance=GET:/ list deposit${ofDeposit} payer${ofDeposit}/ splits${ofDeposit}/ withdrawal=GET:/withdrawals# adjustment=GET:/adjustments#
vouchers  ${cancels}
webhooks webhook-endpoints ${makes} list=GET update delete test=ONCE enable disable replay=ONCE rotateSecret=ONCE:#/rotate-secret deliveries=LIST:#/
webhooks webhook-deliveries resend=ONCE
withdrawals bitcoin/withdraw estimate=POST:/ confirm=CREATE:/
withdrawals transactions/withdrawals get approve=ONCE reject=ONCE`

export const read = (table: string): Readonly<Record<string, Verbs>> => {
  const nouns: Record<string, Record<string, string>> = {}
  for (const line of table.split("\n")) {
    const [noun = "", own, ...verbs] = line.split(" ")
    const path = own || noun
    for (const text of verbs) {
      const [verb = "", route] = text.split("=")
      // Without a route, POST and ONCE act on a record.
      const [kind = "", rest = /O/.test(kind) ? "#/" : ""] = (route ?? usual[verb] ?? "POST").split(":")
      ;(nouns[noun] ??= {})[verb] =
        `${kind} ${path.replace(/^\b/, "/v1/")}${rest.replace("#", "/{id}").replace(/\/$/, `/${verb}`)}`
    }
  }
  return nouns
}

export const routes = read(table)

const ofAnyAmount = { amount: null }

/** The default fields of new records, by resource. The package `satrail` has the same defaults. */
export const defaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  companies: { plan: "free" },
  invoices: ofAnyAmount,
  checkouts: ofAnyAmount
}
