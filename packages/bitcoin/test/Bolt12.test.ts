import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Bolt12 from "../src/Bolt12.ts"
import * as Msat from "../src/Msat.ts"

// Examples from BOLT 12: offers-test.json and format-string-test.json.
const alice = "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619"
const plain = {
  networks: ["mainnet"],
  issuerId: alice,
  introductions: [],
  features: []
} satisfies Partial<Bolt12.Bolt12>
const common = { ...plain, description: "Test vectors" }
const bob = "0324653eac434488002cc06bbfb7f10fe18991e35f9fe4302dbea6d2353dc0ab1c"

type Vector = readonly [name: string, offer: string, says: Omit<Bolt12.Bolt12, "offer">]

const valid: ReadonlyArray<Vector> = [
  ["with only its issuer's key", "lno1zcss9mk8y3wkklfvevcrszlmu23kfrxh49px20665dqwmn4p72pksese", plain],
  [
    "with a description",
    "lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg",
    common
  ],
  [
    "for testnet",
    "lno1qgsyxjtl6luzd9t3pr62xr7eemp6awnejusgf6gw45q75vcfqqqqqqq2p32x2um5ypmx2cm5dae8x93pqthvwfzadd7jejes8q9lhc4rvjxd022zv5l44g6qah82ru5rdpnpj",
    { ...common, networks: ["testnet"] }
  ],
  [
    "explicitly for bitcoin",
    "lno1qgsxlc5vp2m0rvmjcxn2y34wv0m5lyc7sdj7zksgn35dvxgqqqqqqqq2p32x2um5ypmx2cm5dae8x93pqthvwfzadd7jejes8q9lhc4rvjxd022zv5l44g6qah82ru5rdpnpj",
    common
  ],
  [
    "for bitcoin or another chain",
    "lno1qfqpge38tqmzyrdjj3x2qkdr5y80dlfw56ztq6yd9sme995g3gsxqqm0u2xq4dh3kdevrf4zg6hx8a60jv0gxe0ptgyfc6xkryqqqqqqqq9qc4r9wd6zqan9vd6x7unnzcss9mk8y3wkklfvevcrszlmu23kfrxh49px20665dqwmn4p72pksese",
    common
  ],
  [
    "with metadata",
    "lno1qsgqqqqqqqqqqqqqqqqqqqqqqqqqqzsv23jhxapqwejkxar0wfe3vggzamrjghtt05kvkvpcp0a79gmy3nt6jsn98ad2xs8de6sl9qmgvcvs",
    { ...common, metadata: "00".repeat(16) }
  ],
  [
    "for an amount",
    "lno1pqpzwyq2p32x2um5ypmx2cm5dae8x93pqthvwfzadd7jejes8q9lhc4rvjxd022zv5l44g6qah82ru5rdpnpj",
    { ...common, amount: Msat.make(10_000n) }
  ],
  [
    "for dollars",
    "lno1qcp4256ypqpzwyq2p32x2um5ypmx2cm5dae8x93pqthvwfzadd7jejes8q9lhc4rvjxd022zv5l44g6qah82ru5rdpnpj",
    { ...common, price: { currency: "USD", amount: 10_000n } }
  ],
  [
    "that expires on 1 January 2035 in another time zone",
    "lno1pgx9getnwss8vetrw3hhyucwq3ay997czcss9mk8y3wkklfvevcrszlmu23kfrxh49px20665dqwmn4p72pksese",
    { ...common, absoluteExpirySeconds: 2_051_184_600 }
  ],
  [
    "with an issuer",
    "lno1pgx9getnwss8vetrw3hhyucjy358garswvaz7tmzdak8gvfj9ehhyeeqgf85c4p3xgsxjmnyw4ehgunfv4e3vggzamrjghtt05kvkvpcp0a79gmy3nt6jsn98ad2xs8de6sl9qmgvcvs",
    { ...common, issuer: "https://bolt12.org BOLT12 industries" }
  ],
  [
    "for up to five items",
    "lno1pgx9getnwss8vetrw3hhyuc5qyz3vggzamrjghtt05kvkvpcp0a79gmy3nt6jsn98ad2xs8de6sl9qmgvcvs",
    { ...common, quantityMax: 5n }
  ],
  [
    "for any number of items",
    "lno1pgx9getnwss8vetrw3hhyuc5qqtzzqhwcuj966ma9n9nqwqtl032xeyv6755yeflt235pmww58egx6rxry",
    { ...common, quantityMax: 0n }
  ],
  [
    "for at most one item",
    "lno1pgx9getnwss8vetrw3hhyuc5qyq3vggzamrjghtt05kvkvpcp0a79gmy3nt6jsn98ad2xs8de6sl9qmgvcvs",
    { ...common, quantityMax: 1n }
  ],
  [
    "with a feature that may be ignored",
    "lno1pgx9getnwss8vetrw3hhyucvp5yqqqqqqqqqqqqqqqqqqqqkyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg",
    { ...common, features: [99] }
  ],
  [
    "with a blinded path",
    "lno1pgx9getnwss8vetrw3hhyucs5ypjgef743p5fzqq9nqxh0ah7y87rzv3ud0eleps9kl2d5348hq2k8qzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgqpqqqqqqqqqqqqqqqqqqqqqqqqqqqzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqqzq3zyg3zyg3zyg3vggzamrjghtt05kvkvpcp0a79gmy3nt6jsn98ad2xs8de6sl9qmgvcvs",
    { ...common, introductions: [bob] }
  ],
  [
    "with a blinded path that begins at a channel",
    "lno1pgx9getnwss8vetrw3hhyucs3yqqqqqqqqqqqqp2qgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqqyqqqqqqqqqqqqqqqqqqqqqqqqqqqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqqgzyg3zyg3zyg3z93pqthvwfzadd7jejes8q9lhc4rvjxd022zv5l44g6qah82ru5rdpnpj",
    { ...common, introductions: ["00000000000000002a"] }
  ],
  [
    "with a blinded path and no issuer key",
    "lno1pgx9getnwss8vetrw3hhyucs5ypjgef743p5fzqq9nqxh0ah7y87rzv3ud0eleps9kl2d5348hq2k8qzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgqpqqqqqqqqqqqqqqqqqqqqqqqqqqqzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqqzq3zyg3zyg3zygs",
    { networks: ["mainnet"], description: "Test vectors", introductions: [bob], features: [] }
  ],
  [
    "with two blinded paths",
    "lno1pgx9getnwss8vetrw3hhyucsl5qj5qeyv5l2cs6y3qqzesrth7mlzrlp3xg7xhulusczm04x6g6nms9trspqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqqsqqqqqqqqqqqqqqqqqqqqqqqqqqpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsqpqg3zyg3zyg3zygpqqqqzqqqqgqqxqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqqgqqqqqqqqqqqqqqqqqqqqqqqqqqqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgqqsg3zyg3zyg3zygtzzqhwcuj966ma9n9nqwqtl032xeyv6755yeflt235pmww58egx6rxry",
    { ...common, introductions: [bob, "010000010000020003"] }
  ],
  [
    "with an unknown field that may be ignored",
    "lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxfppf5x2mrvdamk7unvvs",
    common
  ],
  [
    "with an experimental field that may be ignored",
    "lno1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvx078wdv5gg2dpjkcmr0wahhymry",
    common
  ]
]

const invalid: ReadonlyArray<readonly [name: string, reason: Bolt12.Bolt12Invalid["reason"], offer: string]> =
  [
    [
      "fields out of order",
      "truncated",
      "lno1zcssyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszpgz5znzfgdzs"
    ],
    [
      "an unknown even field",
      "unknown_field",
      "lno1pgz5znzfgdz3vggzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpysgr0u2xq4dh3kdevrf4zg6hx8a60jv0gxe0ptgyfc6xkryqqqqqqqq"
    ],
    [
      "an invoice request",
      "prefix",
      "lnr1pgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg"
    ],
    ["no fields", "issuer", "lno1"],
    ["nothing after a type", "truncated", "lno1pg"],
    ["a length cut off", "truncated", "lno1pt7s"],
    ["nothing after a length", "truncated", "lno1pgpq"],
    ["a description cut off", "truncated", "lno1pgpyz"],
    [
      "chains of another length",
      "field",
      "lno1qgqszzs9g9xyjs69zcssyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsz"
    ],
    [
      "a currency cut off in a character",
      "field",
      "lno1qcqcqzs9g9xyjs69zcssyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsz"
    ],
    [
      "a currency that is not UTF-8",
      "field",
      "lno1qcplllhapqpq86q2q4qkc6trv5tzzq6muh550qsfva9fdes0ruph7ctk2s8aqq06r4jxj3msc448wzwy9s"
    ],
    [
      "a description cut off in a character",
      "field",
      "lno1pgqcq93pqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqy"
    ],
    [
      "a description that is not UTF-8",
      "field",
      "lno1pgpgqsgkyypqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs"
    ],
    [
      "paths cut off",
      "field",
      "lno1pgz5znzfgdz3qqgpzcssyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsz"
    ],
    [
      "a path without hops",
      "field",
      "lno1pgz5znzfgdz3qsczqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqqtzzqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqg"
    ],
    [
      "a path cut off in a hop",
      "field",
      "lno1pgz5znzfgdz3qegzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqypqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqspzcssyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsz"
    ],
    [
      "a path whose first node has an invalid key",
      "field",
      "lno1pgz5znzfgdz3qesrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqypqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsqqqtzzqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqg"
    ],
    [
      "a path with an invalid blinding key",
      "field",
      "lno1pgz5znzfgdz3qeszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqypqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsqqqtzzqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqg"
    ],
    [
      "a hop with an invalid key",
      "field",
      "lno1pgz5znzfgdz3qeszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqypsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcqqqtzzqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqg"
    ],
    [
      "an issuer cut off in a character",
      "field",
      "lno1pgz5znzfgdz3yqvqzcssyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsz"
    ],
    [
      "an issuer that is not UTF-8",
      "field",
      "lno1pgz5znzfgdz3yq5qgytzzqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqg"
    ],
    [
      "an invalid issuer key",
      "field",
      "lno1pgz5znzfgdz3vggzqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvpsxqcrqvps"
    ],
    [
      "a field of an invoice request",
      "unknown_field",
      "lno1pgz5znzfgdz3vggzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgp9qgr0u2xq4dh3kdevrf4zg6hx8a60jv0gxe0ptgyfc6xkryqqqqqqqq"
    ],
    [
      "a field beyond the experimental ones",
      "unknown_field",
      "lno1pgz5znzfgdz3vggzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgp0uae4jsqzqmlz3s9tdudnwtq6dgjx4e3lwnunr6pktc26pzwx34seqqqqqqqq"
    ],
    [
      "an unknown even experimental field",
      "unknown_field",
      "lno1pgz5znzfgdz3vggzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgp0uwu6egpzqmlz3s9tdudnwtq6dgjx4e3lwnunr6pktc26pzwx34seqqqqqqqq"
    ],
    [
      "an unknown mandatory feature",
      "unknown_feature",
      "lno1pgx9getnwss8vetrw3hhyucvzqzqqqqqqqqqqqqqqqqqqqqqqqqpvggzamrjghtt05kvkvpcp0a79gmy3nt6jsn98ad2xs8de6sl9qmgvcvs"
    ],
    [
      "an amount but no description",
      "description",
      "lno1pqpzwyqkyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg"
    ],
    [
      "a currency without an amount",
      "currency",
      "lno1qcp4256ypgx9getnwss8vetrw3hhyuckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg"
    ],
    ["neither an issuer key nor a path", "issuer", "lno1pgx9getnwss8vetrw3hhyuc"],
    [
      "a second path without hops",
      "field",
      "lno1pgx9getnwss8vetrw3hhyucsespjgef743p5fzqq9nqxh0ah7y87rzv3ud0eleps9kl2d5348hq2k8qzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgqpqqqqqqqqqqqqqqqqqqqqqqqqqqqzqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqqzq3zyg3zyg3zygszqqqqyqqqqsqqvpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqsq"
    ]
  ]

const written =
  "lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2uckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg"
const cut = (...at: ReadonlyArray<number>) =>
  at.toReversed().reduce((text, one) => `${text.slice(0, one)}+${text.slice(one)}`, written)
const spaced = cut(18, 52, 70, 138)
  .replace("+", "+ ")
  .replace(/\+(?! )/, "+\r\n ")

describe("BOLT 12, examples of the specification", () => {
  it.each(valid)("BOLT 12: an offer %s is read", (_, offer, says) => {
    assert.deepStrictEqual(Result.getOrThrow(Bolt12.decode(offer)), { ...says, offer })
  })

  it.each(invalid)("BOLT 12: an offer with %s is rejected", (_, reason, offer) => {
    const refused = Bolt12.decode(offer)
    assert.strictEqual(Result.isFailure(refused) && refused.failure.reason, reason)
  })

  it.each([
    ["in upper case", written.toUpperCase()],
    ["in two pieces, one of which is a letter", cut(1)],
    ["in five pieces", cut(18, 52, 70, 138)],
    ["in pieces on several lines", spaced],
    ["in pieces on several lines in upper case", spaced.toUpperCase()]
  ])("BOLT 12: an offer %s is read as the same offer", (_, text) => {
    assert.isTrue(Bolt12.isBolt12(text))
    assert.deepStrictEqual(Bolt12.decode(text), Bolt12.decode(written))
    assert.strictEqual(Result.getOrThrow(Bolt12.decode(text)).offer, written)
  })

  it.each([
    ["a plus at the end", `${written}+`],
    ["a plus and a space at the end", `${written}+ `],
    ["a plus at the beginning", `+${written}`],
    ["a plus and a space at the beginning", `+ ${written}`],
    ["two pluses together", `ln++${written.slice(2)}`],
    ["a space before a plus", `ln +${written.slice(2)}`],
    ["upper and lower case", `LNO1${written.slice(4)}`],
    ["a character that bech32 does not use", `${written}b`]
  ])("BOLT 12: an offer with %s is rejected", (_, text) => {
    assert.isTrue(Result.isFailure(Bolt12.decode(text)))
  })
})
