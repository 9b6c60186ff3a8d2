import { type Canary, core, coreTest } from "../Canary.ts"

export const vouchers: ReadonlyArray<Canary> = [
  {
    name: "voucher-claimed-twice",
    rows: [18],
    bug: "a voucher is paid as often as it is claimed",
    file: core("features/vouchers/Voucher"),
    find: `    from: ["open"],
    to: "claimed",`,
    replace: `    from: ["open", "claimed"],
    to: "claimed",`,
    test: coreTest("Vouchers"),
    titles: "C18:"
  }
]
