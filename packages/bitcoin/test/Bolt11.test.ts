import { sha256 } from "@noble/hashes/sha2.js"
import { bech32, hex } from "@scure/base"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as BitcoinAddress from "../src/BitcoinAddress.ts"
import * as Bolt11 from "../src/Bolt11.ts"
import * as Msat from "../src/Msat.ts"
import type * as Network from "../src/Network.ts"
import * as PaymentHash from "../src/PaymentHash.ts"

// BOLT 11, "Examples". One key signs all of them, and almost all have the same hash, secret and time.
const key = hex.decode("e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734")
const payee = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad"
const common = {
  network: "mainnet",
  timestampSeconds: 1496314658,
  expirySeconds: 3600,
  paymentHash: PaymentHash.make("0001020304050607080900010203040506070809000102030405060708090102"),
  paymentSecret: "11".repeat(32),
  payee,
  minFinalCltvExpiry: 18,
  routes: [],
  fallbacks: [],
  features: [8, 14]
} satisfies Partial<Bolt11.Bolt11>

const shoppingList =
  "One piece of chocolate cake, one icecream cone, one pickle, one slice of swiss cheese, one slice of salami, one lollypop, one piece of cherry pie, one sausage, one cupcake, and one slice of watermelon"
const hashed = {
  ...common,
  amount: Msat.make(2_000_000_000n),
  descriptionHash: hex.encode(sha256(new TextEncoder().encode(shoppingList)))
}
const beans = {
  ...common,
  amount: Msat.make(2_500_000_000n),
  description: "coffee beans",
  features: [8, 14, 99]
}

const fallback = (address: string, network: Network.Network = "mainnet") =>
  Result.getOrThrow(BitcoinAddress.decode(address, network))

type Vector = readonly [name: string, invoice: string, says: Omit<Bolt11.Bolt11, "paymentRequest">]

const valid: ReadonlyArray<Vector> = [
  [
    "a donation of any amount",
    "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql",
    { ...common, description: "Please consider supporting this project" }
  ],
  [
    "a cup of coffee, within one minute",
    "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh",
    { ...common, amount: Msat.make(250_000_000n), description: "1 cup coffee", expirySeconds: 60 }
  ],
  [
    "a cup of nonsense, in UTF-8",
    "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpquwpc4curk03c9wlrswe78q4eyqc7d8d0xqzpu9qrsgqhtjpauu9ur7fw2thcl4y9vfvh4m9wlfyz2gem29g5ghe2aak2pm3ps8fdhtceqsaagty2vph7utlgj48u0ged6a337aewvraedendscp573dxr",
    { ...common, amount: Msat.make(250_000_000n), description: "ナンセンス 1杯", expirySeconds: 60 }
  ],
  [
    "a list of things, hashed",
    "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs9qrsgq7ea976txfraylvgzuxs8kgcw23ezlrszfnh8r6qtfpr6cxga50aj6txm9rxrydzd06dfeawfk6swupvz4erwnyutnjq7x39ymw6j38gp7ynn44",
    hashed
  ],
  [
    "a hashed list of things on testnet, with a P2PKH fallback",
    "lntb20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygshp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqfpp3x9et2e20v6pu37c5d9vax37wxq72un989qrsgqdj545axuxtnfemtpwkc45hx9d2ft7x04mt8q7y6t0k2dge9e7h8kpy9p34ytyslj3yu569aalz2xdk8xkd7ltxqld94u8h2esmsmacgpghe9k8",
    { ...hashed, network: "testnet", fallbacks: [fallback("mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP", "testnet")] }
  ],
  [
    "a P2PKH fallback and a route of two hops",
    "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqsfpp3qjmp7lwpagxun9pygexvgpjdc4jdj85fr9yq20q82gphp2nflc7jtzrcazrra7wwgzxqc8u7754cdlpfrmccae92qgzqvzq2ps8pqqqqqqpqqqqq9qqqvpeuqafqxu92d8lr6fvg0r5gv0heeeqgcrqlnm6jhphu9y00rrhy4grqszsvpcgpy9qqqqqqgqqqqq7qqzq9qrsgqdfjcdk6w3ak5pca9hwfwfh63zrrz06wwfya0ydlzpgzxkn5xagsqz7x9j4jwe7yj7vaf2k9lqsdk45kts2fd0fkr28am0u4w95tt2nsq76cqw0",
    {
      ...hashed,
      fallbacks: [fallback("1RustyRX2oai4EYYDpQGWvEL62BBGqN9T")],
      routes: [
        [
          {
            pubkey: "029e03a901b85534ff1e92c43c74431f7ce72046060fcf7a95c37e148f78c77255",
            shortChannelId: "66051x263430x1800",
            feeBaseMsat: Msat.make(1n),
            feeProportionalMillionths: 20,
            cltvExpiryDelta: 3
          },
          {
            pubkey: "039e03a901b85534ff1e92c43c74431f7ce72046060fcf7a95c37e148f78c77255",
            shortChannelId: "197637x395016x2314",
            feeBaseMsat: Msat.make(2n),
            feeProportionalMillionths: 30,
            cltvExpiryDelta: 4
          }
        ]
      ]
    }
  ],
  [
    "a P2SH fallback",
    "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygshp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqfppj3a24vwu6r8ejrss3axul8rxldph2q7z99qrsgqz6qsgww34xlatfj6e3sngrwfy3ytkt29d2qttr8qz2mnedfqysuqypgqex4haa2h8fx3wnypranf3pdwyluftwe680jjcfp438u82xqphf75ym",
    { ...hashed, fallbacks: [fallback("3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX")] }
  ],
  [
    "a P2WPKH fallback",
    "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygshp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqfppqw508d6qejxtdg4y5r3zarvary0c5xw7k9qrsgqt29a0wturnys2hhxpner2e3plp6jyj8qx7548zr2z7ptgjjc7hljm98xhjym0dg52sdrvqamxdezkmqg4gdrvwwnf0kv2jdfnl4xatsqmrnsse",
    { ...hashed, fallbacks: [fallback("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")] }
  ],
  [
    "a P2WSH fallback",
    "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygshp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqfp4qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q9qrsgq9vlvyj8cqvq6ggvpwd53jncp9nwc47xlrsnenq2zp70fq83qlgesn4u3uyf4tesfkkwwfg3qs54qe426hp3tz7z6sweqdjg05axsrjqp9yrrwc",
    { ...hashed, fallbacks: [fallback("bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3")] }
  ],
  [
    "a P2TR fallback",
    "lnbc20m1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqsfp4pptdvg0d2nj99568qn6ssdy4cygnwuxgw2ukmnwgwz7jpqjz2kszs9qrsgqy606dznq28exnydt2r4c29y56xjtn3sk4mhgjtl4pg2y4ar3249rq4ajlmj9jy8zvlzw7cr8mggqzm842xfr0v72rswzq9xvr4hknfsqwmn6xd",
    { ...hashed, fallbacks: [fallback("bc1pptdvg0d2nj99568qn6ssdy4cygnwuxgw2ukmnwgwz7jpqjz2kszse2s3lm")] }
  ],
  [
    "an amount in pico-bitcoin, within one week",
    "lnbc9678785340p1pwmna7lpp5gc3xfm08u9qy06djf8dfflhugl6p7lgza6dsjxq454gxhj9t7a0sd8dgfkx7cmtwd68yetpd5s9xar0wfjn5gpc8qhrsdfq24f5ggrxdaezqsnvda3kkum5wfjkzmfqf3jkgem9wgsyuctwdus9xgrcyqcjcgpzgfskx6eqf9hzqnteypzxz7fzypfhg6trddjhygrcyqezcgpzfysywmm5ypxxjemgw3hxjmn8yptk7untd9hxwg3q2d6xjcmtv4ezq7pqxgsxzmnyyqcjqmt0wfjjq6t5v4khxsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygsxqyjw5qcqp2rzjq0gxwkzc8w6323m55m4jyxcjwmy7stt9hwkwe2qxmy8zpsgg7jcuwz87fcqqeuqqqyqqqqlgqqqqn3qq9q9qrsgqrvgkpnmps664wgkp43l22qsgdw4ve24aca4nymnxddlnp8vh9v2sdxlu5ywdxefsfvm0fq3sesf08uf6q9a2ke0hc9j6z6wlxg5z5kqpu2v9wz",
    {
      ...common,
      amount: Msat.make(967_878_534n),
      timestampSeconds: 1572468703,
      expirySeconds: 604_800,
      paymentHash: PaymentHash.make("462264ede7e14047e9b249da94fefc47f41f7d02ee9b091815a5506bc8abf75f"),
      description: `Blockstream Store: 88.85 USD for Blockstream Ledger Nano S x 1, "Back In My Day" Sticker x 2, "I Got Lightning Working" Sticker x 2 and 1 more items`,
      minFinalCltvExpiry: 10,
      routes: [
        [
          {
            pubkey: "03d06758583bb5154774a6eb221b1276c9e82d65bbaceca806d90e20c108f4b1c7",
            shortChannelId: "589390x3312x1",
            feeBaseMsat: Msat.make(1000n),
            feeProportionalMillionths: 2500,
            cltvExpiryDelta: 40
          }
        ]
      ]
    }
  ],
  [
    "features 8, 14 and 99",
    "lnbc25m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5vdhkven9v5sxyetpdeessp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9q5sqqqqqqqqqqqqqqqqsgq2a25dxl5hrntdtn6zvydt7d66hyzsyhqs4wdynavys42xgl6sgx9c4g7me86a27t07mdtfry458rtjr0v92cnmswpsjscgt2vcse3sgpz3uapa",
    beans
  ],
  [
    "coffee beans in upper case",
    "LNBC25M1PVJLUEZPP5QQQSYQCYQ5RQWZQFQQQSYQCYQ5RQWZQFQQQSYQCYQ5RQWZQFQYPQDQ5VDHKVEN9V5SXYETPDEESSP5ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYG3ZYGS9Q5SQQQQQQQQQQQQQQQQSGQ2A25DXL5HRNTDTN6ZVYDT7D66HYZSYHQS4WDYNAVYS42XGL6SGX9C4G7ME86A27T07MDTFRY458RTJR0V92CNMSWPSJSCGT2VCSE3SGPZ3UAPA",
    beans
  ],
  [
    "coffee beans with fields that must be ignored",
    "lnbc25m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5vdhkven9v5sxyetpdeessp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9q5sqqqqqqqqqqqqqqqqsgq2qrqqqfppnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqppnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpp4qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhpnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqhp4qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqspnqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqsp4qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnp5qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnpkqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqz599y53s3ujmcfjp5xrdap68qxymkqphwsexhmhr8wdz5usdzkzrse33chw6dlp3jhuhge9ley7j2ayx36kawe7kmgg8sv5ugdyusdcqzn8z9x",
    beans
  ],
  [
    "payment metadata",
    "lnbc10m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdp9wpshjmt9de6zqmt9w3skgct5vysxjmnnd9jx2mq8q8a04uqsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9q2gqqqqqqsgq7hf8he7ecf7n4ffphs6awl9t6676rrclv9ckg3d3ncn7fct63p6s365duk5wrk202cfy3aj5xnnp5gs3vrdvruverwwq7yzhkf5a3xqpd05wjc",
    {
      ...common,
      amount: Msat.make(1_000_000_000n),
      description: "payment metadata inside",
      metadata: "01fafaf0",
      features: [8, 14, 48]
    }
  ],
  [
    "a high-S signature from which the key is recovered",
    "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap2r09nt4ndd0unm3z9u5t48y6ucv4r5sg7lk98c77ctvjczkspk5qprc90gx",
    // This key differs from the one above, because the example negated S without changing the recovery id. BOLT
    // 11 does not state this key, but libsecp256k1 recovers the same one.
    {
      ...common,
      description: "Please consider supporting this project",
      payee: "02d0139ce7427d6dfffd26a326c18be754ef1e64672b42694ba5b23ef6e6e7803d"
    }
  ]
]

const invalid: ReadonlyArray<
  readonly [name: string, invoice: string, reason: Bolt11.Bolt11Invalid["reason"]]
> = [
  [
    "unknown mandatory feature 100",
    "lnbc25m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5vdhkven9v5sxyetpdeessp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9q4psqqqqqqqqqqqqqqqqsgqtqyx5vggfcsll4wu246hz02kp85x4katwsk9639we5n5yngc3yhqkm35jnjw4len8vrnqnf5ejh0mzj9n3vz2px97evektfm2l6wqccp3y7372",
    "unknown_feature"
  ],
  [
    "a checksum that does not match",
    "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpquwpc4curk03c9wlrswe78q4eyqc7d8d0xqzpuyk0sg5g70me25alkluzd2x62aysf2pyy8edtjeevuv4p2d5p76r4zkmneet7uvyakky2zr4cusd45tftc9c5fh0nnqpnl2jfll544esqchsrnt",
    "bech32"
  ],
  [
    "no prefix",
    "pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpquwpc4curk03c9wlrswe78q4eyqc7d8d0xqzpuyk0sg5g70me25alkluzd2x62aysf2pyy8edtjeevuv4p2d5p76r4zkmneet7uvyakky2zr4cusd45tftc9c5fh0nnqpnl2jfll544esqchsrny",
    "bech32"
  ],
  [
    "mixed case",
    "LNBC2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpquwpc4curk03c9wlrswe78q4eyqc7d8d0xqzpuyk0sg5g70me25alkluzd2x62aysf2pyy8edtjeevuv4p2d5p76r4zkmneet7uvyakky2zr4cusd45tftc9c5fh0nnqpnl2jfll544esqchsrny",
    "bech32"
  ],
  [
    "a signature that no key could have made",
    "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpusp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9qrsgqwgt7mcn5yqw3yx0w94pswkpq6j9uh6xfqqqtsk4tnarugeektd4hg5975x9am52rz4qskukxdmjemg92vvqz8nvmsye63r5ykel43pgz7zq0g2",
    "signature"
  ],
  [
    "a string that is too short",
    "lnbc1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6na6hlh",
    "truncated"
  ],
  [
    "an unknown multiplier",
    "lnbc2500x1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpusp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9qrsgqrrzc4cvfue4zp3hggxp47ag7xnrlr8vgcmkjxk3j5jqethnumgkpqp23z9jclu3v0a7e0aruz366e9wqdykw6dxhdzcjjhldxq0w6wgqcnu43j",
    "amount"
  ],
  [
    "a fractional millisatoshi",
    "lnbc2500000001p1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpusp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9qrsgq0lzc236j96a95uv0m3umg28gclm5lqxtqqwk32uuk4k6673k6n5kfvx3d2h8s295fad45fdhmusm8sjudfhlf6dcsxmfvkeywmjdkxcp99202x",
    "amount"
  ],
  [
    "no payment secret",
    "lnbc20m1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqhp58yjmdan79s6qqdhdzgynm4zwqd5d7xmw5fk98klysy043l2ahrqs9qrsgq7ea976txfraylvgzuxs8kgcw23ezlrszfnh8r6qtfpr6cxga50aj6txm9rxrydzd06dfeawfk6swupvz4erwnyutnjq7x39ymw6j38gp49qdkj",
    "payment_secret"
  ],
  [
    "a high-S signature next to a declared key",
    "lnbc25m1p70xwfzpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaqnp4q0n326hr8v9zprg8gsvezcch06gfaqqhde2aj730yg0durunfhv66sp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygs9qrsgqsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygsp5cfzp9ugllvk03rltd6hvndxj26ux6gcxc5azyxk060rj9tzghct5zvjlps76gx8wpq5yuu79688k8gnm2c0al6v608s96l0xzrrlqqwnzxmu",
    "signature"
  ]
]

const reasonOf = (invoice: string) => {
  const decoded = Bolt11.decode(invoice)
  return Result.isFailure(decoded) ? decoded.failure.reason : "valid"
}

describe("BOLT 11, examples", () => {
  for (const [name, invoice, says] of valid) {
    it(`BOLT 11: the parser reads ${name}`, () => {
      assert.deepStrictEqual(Result.getOrThrow(Bolt11.decode(invoice)), {
        ...says,
        paymentRequest: invoice.toLowerCase()
      })
    })
  }
  for (const [name, invoice, reason] of invalid) {
    it(`BOLT 11: the parser rejects ${name}`, () => assert.strictEqual(reasonOf(invoice), reason))
  }
  it("BOLT 11: the specification has 16 valid and 10 invalid examples", () =>
    assert.deepStrictEqual([valid.length, invalid.length], [16, 10]))
})

/**
 * An invoice of arbitrary words with a valid signature, so that only the intended defect can cause its
 * rejection.
 */
const raw = (
  prefix: string,
  fields: ReadonlyArray<readonly [letter: string, words: ReadonlyArray<number>]>
) => {
  const words = [
    0,
    0,
    0,
    0,
    0,
    0,
    1,
    ...fields.flatMap(([letter, data]) => [
      "qpzry9x8gf2tvdw0s3jn54khce6mua7l".indexOf(letter),
      data.length >> 5,
      data.length & 31,
      ...data
    ])
  ]
  const bits = words.map((word) => word.toString(2).padStart(5, "0")).join("")
  const bytes = bits.match(/.{1,8}/g)?.map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2)) ?? []
  const hash = sha256(Uint8Array.of(...new TextEncoder().encode(prefix), ...bytes))
  return bech32.encode(prefix, [...words, ...bech32.toWords(Bolt11.signWith(key)(hash))], false)
}
const zeros = (length: number) => Array.from({ length }, () => 0)
const text = (value: string) => bech32.toWords(new TextEncoder().encode(value))
const p = ["p", zeros(52)] as const
const s = ["s", zeros(52)] as const
const d = ["d", text("tea")] as const

describe("BOLT 11, requirements of a reader", () => {
  const cases: ReadonlyArray<
    readonly [name: string, invoice: string, reason: Bolt11.Bolt11Invalid["reason"] | "valid"]
  > = [
    ["a minimal invoice", raw("lnbc", [p, s, d]), "valid"],
    ["an empty description", raw("lnbc", [p, s, ["d", []]]), "valid"],
    ["signet", raw("lntbs1u", [p, s, d]), "valid"],
    ["simnet", raw("lnsb1u", [p, s, d]), "prefix"],
    ["another chain", raw("lnltc1u", [p, s, d]), "prefix"],
    ["an amount of zero", raw("lnbc0u", [p, s, d]), "amount"],
    ["an amount with a leading zero", raw("lnbc01u", [p, s, d]), "amount"],
    ["two multipliers", raw("lnbc1um", [p, s, d]), "amount"],
    ["an amount of the whole supply", raw("lnbc21000000", [p, s, d]), "valid"],
    ["one millisatoshi more than the supply", raw("lnbc21000000000000000010p", [p, s, d]), "amount"],
    ["an amount of a thousand digits", raw(`lnbc1${"0".repeat(999)}`, [p, s, d]), "amount"],
    ["no payment hash", raw("lnbc", [s, d]), "payment_hash"],
    ["only a payment hash of another length", raw("lnbc", [["p", zeros(51)], s, d]), "payment_hash"],
    ["neither a description nor its hash", raw("lnbc", [p, s]), "description"],
    ["both a description and its hash", raw("lnbc", [p, s, d, ["h", zeros(52)]]), "description"],
    [
      "a description that is not UTF-8",
      raw("lnbc", [p, s, ["d", bech32.toWords(Uint8Array.of(0xff))]]),
      "field"
    ],
    ["a description with bits in its padding", raw("lnbc", [p, s, ["d", [1, 1]]]), "field"],
    ["an expiry with a leading zero", raw("lnbc", [p, s, d, ["x", [0, 1]]]), "valid"],
    [
      "an expiry too large for a number",
      raw("lnbc", [p, s, d, ["x", Array.from({ length: 11 }, () => 31)]]),
      "field"
    ],
    ["features with a leading zero", raw("lnbc", [p, s, d, ["9", [0, 16, 8, 0]]]), "valid"],
    ["a route that ends within a hop", raw("lnbc", [p, s, d, ["r", zeros(80)]]), "field"],
    ["a P2PKH fallback that is too short", raw("lnbc", [p, s, d, ["f", [17, ...zeros(31)]]]), "field"],
    ["a version 0 fallback of 41 bytes", raw("lnbc", [p, s, d, ["f", [0, ...zeros(66)]]]), "field"],
    ["a fallback of a later witness version", raw("lnbc", [p, s, d, ["f", [2, ...zeros(32)]]]), "valid"],
    [
      "a pay-to-anchor fallback",
      raw("lnbc", [p, s, d, ["f", [1, ...bech32.toWords(Uint8Array.of(0x4e, 0x73))]]]),
      "valid"
    ],
    ["a declared key that signed", raw("lnbc", [p, s, d, ["n", bech32.toWords(hex.decode(payee))]]), "valid"],
    [
      "a declared key that did not sign",
      raw("lnbc", [p, s, d, ["n", bech32.toWords(hex.decode(`02${payee.slice(2)}`))]]),
      "signature"
    ],
    ["an empty string", "", "bech32"],
    ["a prefix alone", "lnbc", "bech32"]
  ]
  for (const [name, invoice, reason] of cases) {
    it(`BOLT 11: the parser ${reason === "valid" ? "reads" : "rejects"} ${name}`, () =>
      assert.strictEqual(reasonOf(invoice), reason, invoice))
  }

  it("BOLT 11: an impossible recovery id is rejected, even with a declared key", () => {
    const { prefix, words } = bech32.decode(
      raw("lnbc", [p, s, d, ["n", bech32.toWords(hex.decode(payee))]]),
      false
    )
    // The last word and the three bits before it contain the recovery id.
    assert.strictEqual(reasonOf(bech32.encode(prefix, [...words.slice(0, -1), 4], false)), "signature")
  })

  /** Decodes an invoice with these feature bits. The last word has the lowest five. */
  const featuring = (...bits: ReadonlyArray<number>) => {
    const words = zeros(Math.floor(Math.max(...bits) / 5) + 1)
    for (const bit of bits)
      words[words.length - 1 - Math.floor(bit / 5)] =
        (words[words.length - 1 - Math.floor(bit / 5)] ?? 0) | (1 << (bit % 5))
    return reasonOf(raw("lnbc", [p, s, d, ["9", words]]))
  }

  it("BOLT 9: every unsupported mandatory feature, such as AMP (30), is rejected; its optional bit is accepted", () => {
    const met = [8, 14, 16, 48]
    for (let bit = 0; bit <= 260; bit += 2) {
      assert.strictEqual(
        featuring(8, 14, bit),
        met.includes(bit) ? "valid" : "unknown_feature",
        `feature ${bit}`
      )
      assert.strictEqual(featuring(8, 14, bit + 1), "valid", `feature ${bit + 1}`)
    }
    assert.strictEqual(featuring(30), "unknown_feature")
  })

  it("bLIP 39: an invoice over blinded paths, which has no payment secret, is rejected for its blinded paths", () => {
    const words = zeros(53)
    words[0] = 4 // feature 262, the third of the first word
    const decoded = Bolt11.decode(raw("lnbc", [p, d, ["9", words]]))
    if (Result.isSuccess(decoded)) return assert.fail("the invoice was accepted")
    assert.strictEqual(decoded.failure.reason, "unknown_feature")
    assert.match(decoded.failure.message, /blinded paths/)
  })

  it("BOLT 11: if several fields have the same type, the first one is used", () => {
    const invoice = Result.getOrThrow(
      Bolt11.decode(raw("lnbc", [p, s, d, ["d", text("coffee")], ["x", [2]], ["x", [3]]]))
    )
    assert.deepStrictEqual([invoice.description, invoice.expirySeconds], ["tea", 2])
  })

  it("BOLT 11: an invoice expires at its timestamp plus its expiry, at the latest in the year 9999", () => {
    const expiresAt = (words: ReadonlyArray<number>) =>
      Bolt11.expiresAtSeconds(Result.getOrThrow(Bolt11.decode(raw("lnbc", [p, s, d, ["x", words]]))))
    assert.strictEqual(expiresAt([2]), 3)
    assert.strictEqual(
      new Date(expiresAt(Array.from({ length: 10 }, () => 31)) * 1000).toISOString(),
      "9999-01-01T00:00:00.000Z"
    )
  })
})

describe("BOLT 11, writing", () => {
  const draft: Bolt11.Draft = {
    network: "mainnet",
    timestampSeconds: 1,
    paymentHash: PaymentHash.make("00".repeat(32)),
    paymentSecret: "00".repeat(32),
    description: ""
  }
  const refused = (change: Partial<Bolt11.Draft>) => {
    const encoded = Bolt11.encode({ ...draft, ...change }, Bolt11.signWith(key))
    return Result.isFailure(encoded) ? encoded.failure.reason : encoded.success
  }

  it("BOLT 11: a value that does not fit its field is rejected, not truncated", () => {
    const hop = {
      pubkey: payee,
      shortChannelId: "1x1x1",
      feeBaseMsat: Msat.zero,
      feeProportionalMillionths: 0,
      cltvExpiryDelta: 0
    }
    assert.strictEqual(refused({ amount: Msat.zero }), "amount")
    assert.strictEqual(refused({ amount: Msat.make(Msat.max + 1n) }), "amount")
    assert.strictEqual(refused({ paymentHash: PaymentHash.make("00") }), "payment_hash")
    assert.strictEqual(refused({ paymentSecret: "00" }), "payment_secret")
    assert.strictEqual(refused({ descriptionHash: "00".repeat(32) }), "description")
    assert.strictEqual(refused({ description: "x".repeat(Bolt11.maxDescriptionBytes + 1) }), "description")
    assert.strictEqual(refused({ timestampSeconds: 2 ** 35 }), "field")
    assert.strictEqual(refused({ expirySeconds: 0.5 }), "field")
    assert.strictEqual(refused({ routes: [[]] }), "field")
    assert.strictEqual(refused({ routes: [[{ ...hop, feeBaseMsat: Msat.make(2n ** 32n) }]] }), "field")
    assert.strictEqual(refused({ routes: [[{ ...hop, shortChannelId: "16777216x0x0" }]] }), "field")
    assert.isTrue(refused({ description: "x".repeat(Bolt11.maxDescriptionBytes) }).startsWith("lnbc1"))
  })

  it("BOLT 11: amounts are written with the largest possible multiplier", () => {
    const prefix = (msat: bigint) =>
      refused({ amount: Msat.make(msat) })
        .split("1pq")[0]
        ?.replace(/1qqqqqqp.*/, "")
    assert.deepStrictEqual([1n, 10n, 100n, 250_000n, 100_000_000n, 200_000_000_000n].map(prefix), [
      "lnbc10p",
      "lnbc100p",
      "lnbc1n",
      "lnbc2500n",
      "lnbc1m",
      "lnbc2"
    ])
  })
})
