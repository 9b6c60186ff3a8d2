import { type Canary, feature, featureTest, inSql, postgres } from "../../../../test/defences/Canary.ts"

export const vouchers: ReadonlyArray<Canary> = [
  {
    name: "voucher-claimed-twice",
    rows: [18],
    bug: "a voucher is paid each time it is claimed",
    file: feature("vouchers/core/Voucher"),
    in: "life",
    find: `    from: ["open"],
    to: "claimed",`,
    replace: `    from: ["open", "claimed"],
    to: "claimed",`,
    test: featureTest("vouchers/core/Vouchers"),
    titles: "C18:"
  },
  {
    name: "voucher-claimed-twice-sql",
    rows: [18],
    bug: "a voucher is paid each time it is claimed because SQL moves a record from any status",
    file: postgres("statements/Writes"),
    in: "applies",
    find: "    ...(from.length === 0 ? [] : [`g.status in (${list(from)})`]),\n",
    replace: "",
    test: inSql,
    titles: "grouped.*C18:"
  }
]
