import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Coin from "@satrail/core/nodes/Coin"
import type { SettledPayout } from "@satrail/core/sending/SendingReads"
import type * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"

const settledPayoutOf = Schema.decodeUnknownSync(
  Schema.Struct({ id: Schema.String, companyId: CompanyId.CompanyId, txId: TxId.TxId, rawTx: Schema.String })
)

const Branch = Schema.FiniteFromString.pipe(Schema.decodeTo(Coin.Place.fields.branch))

const coinRow = Schema.decodeUnknownSync(
  Schema.Struct({
    outpoint: Schema.String,
    scriptPubKey: Schema.String,
    amount: Msat.FromString,
    type: AddressType,
    branch: Branch,
    index: Schema.FiniteFromString,
    isConfirmed: Schema.Literals(["0", "1"])
  })
)

const coinOf = (row: unknown): Coin.Coin => {
  const { isConfirmed, ...coin } = coinRow(row)
  return { ...coin, isConfirmed: isConfirmed === "1" }
}

const candidateRow = Schema.decodeUnknownSync(
  Schema.Struct({
    tx_id: TxId.TxId,
    raw_tx: Schema.String,
    psbt: Schema.String,
    network_fee: Msat.FromString,
    is_deep: Schema.Literals(["0", "1"]),
    change_vout: Schema.NullOr(Schema.FiniteFromString)
  })
)

const changeRow = Schema.decodeUnknownSync(
  Schema.Struct({
    change_wallet: Schema.String,
    change_vout: Schema.FiniteFromString,
    change_script_pub_key: Schema.String,
    change_amount: Msat.FromString,
    change_type: AddressType,
    change_branch: Branch,
    change_index: Schema.FiniteFromString
  })
)

const changeOf = (row: unknown): Coin.Change => {
  const change = changeRow(row)
  return {
    wallet: change.change_wallet,
    vout: change.change_vout,
    scriptPubKey: change.change_script_pub_key,
    amount: change.change_amount,
    type: change.change_type,
    branch: change.change_branch,
    index: change.change_index
  }
}

const candidateOf = (row: unknown): Withdrawal.Candidate => {
  const { tx_id, raw_tx, psbt, network_fee, is_deep, change_vout } = candidateRow(row)
  const change = change_vout === null ? null : changeOf(row)
  return { txId: tx_id, rawTx: raw_tx, psbt, networkFee: network_fee, change, isDeep: is_deep === "1" }
}

const outpointOf = Schema.decodeUnknownSync(Schema.Struct({ outpoint: Schema.String }))

const selected = `
select t.tx_id, t.raw_tx, t.psbt, t.network_fee::text, t.is_deep::text, t.change_wallet, t.change_vout::text, t.change_script_pub_key,
  t.change_amount::text, t.change_type, t.change_branch::text, t.change_index::text
from satrail.candidates t`

/** Payout transactions and their inputs. */
export const reads = {
  candidates: Reads.many("Records.candidates", {
    text: `${selected} where t.company_id = any(array(select value::uuid from json_array_elements_text($1)))
  and t.withdrawal_id = any(array(select value::uuid from json_array_elements_text($2))) order by t.place`,
    values: (companyId: CompanyId.CompanyId, withdrawalId: string) => [
      Reads.list("uuid", [companyId]),
      Reads.list("uuid", [withdrawalId])
    ],
    read: candidateOf
  }),
  settledPayouts: Reads.many("Records.settledPayouts", {
    text: `
select withdrawal_id::text as id, company_id::text as "companyId", tx_id as "txId", raw_tx as "rawTx" from satrail.candidates t
where t.standing = 'settled' and t.withdrawal_id > $1::uuid order by t.withdrawal_id limit $2::bigint`,
    values: (after: string | null, limit: number) => [after ?? Id.nil, String(limit)],
    read: (row): SettledPayout => settledPayoutOf(row)
  }),
  coins: Reads.many("Records.coins", {
    text: `
select outpoint, script_pub_key as "scriptPubKey", amount::text, type, branch::text, index::text, is_confirmed::text as "isConfirmed"
from satrail.unspent t where t.wallet = $1::text order by t.amount desc, t.outpoint limit $2::bigint`,
    values: (wallet: string, limit: number) => [wallet, String(limit)],
    read: coinOf
  }),
  spentCoins: Reads.mapped(
    Reads.many("Records.spentCoins", {
      text: "select outpoint from satrail.coins where outpoint = any(array(select value from json_array_elements_text($1)))",
      values: (outpoints: ReadonlyArray<string>) => [Reads.list("text", outpoints)],
      read: (row) => outpointOf(row).outpoint
    }),
    (spent) => new Set(spent)
  )
}
