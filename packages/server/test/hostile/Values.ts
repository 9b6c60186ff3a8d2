// Values that no client should send, although some will.

const id = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"

/** Texts for ids, queries, headers and fields. */
export const texts: ReadonlyArray<string> = [
  "",
  " ",
  "0",
  "-1",
  "1",
  "null",
  "undefined",
  "true",
  "NaN",
  "1e400",
  "9".repeat(400),
  "x",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "\0",
  "a\0b",
  "%00",
  "%",
  "%zz",
  "%25",
  "\ud800",
  "\udfff",
  "a\udc00\ud800b",
  "🙂",
  "ü",
  "İ",
  "ﬁ",
  "\u202e",
  "\u2028",
  "\ufeff",
  "\u0085",
  "a\tb",
  "a\r\nb: c",
  "<script>",
  "' or 1=1 --",
  "${7*7}",
  "/",
  "../../etc/passwd",
  "a/b",
  "a\\b",
  "?",
  "#",
  ";",
  "&",
  "=",
  "+",
  "x".repeat(101),
  "x".repeat(5000),
  "ü".repeat(700),
  "🙂".repeat(300),
  id,
  id.toUpperCase(),
  `${id} `,
  `{${id}}`,
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "2026-02-30T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  "9999-12-31T23:59:59.999Z",
  "0000-01-01T00:00:00Z",
  "0001-01-01T00:00:00-23:59",
  "1970-01-01T00:00:00Z",
  "a@b",
  "a@b@c",
  "@",
  "user@127.0.0.1",
  "user@localhost",
  "user@xn--",
  "http://127.0.0.1:1/",
  "https://user:password@example.com/",
  "lightning:",
  "lightning:lnbcrt1",
  "lnbcrt1",
  "lnbc1pvjluezpp5qqqsyqcyq5rqwzqf",
  "lnurl1dp68gurn8ghj7",
  "keyauth://x.example",
  "bitcoin:",
  "bitcoin:?amount=1e400",
  "bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?amount=-0",
  "bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?req-x=1&lightning=lnbcrt1",
  "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
  "bcrt1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k",
  "MTc2NzIyNTYwMDAwMCBh",
  Buffer.from(`8640000000000000 ${id}`).toString("base64url"),
  Buffer.from(`8640000000000001 ${id}`).toString("base64url"),
  Buffer.from(`0 ffffffff-ffff-7fff-bfff-ffffffffffff`).toString("base64url")
]

/** Characters as JSON escape sequences. */
export const characters: ReadonlyArray<string> = [
  ...String.raw`\u0000 \ud800 \udfff \udc00\ud800 \uffff \u202e \u0007 \ud83d\ude42 🙂 é @ . - % / ' \\ \" \n`.split(
    " "
  ),
  " ",
  "\0",
  "\n",
  "\u2028"
]

const deep = (open: string, close: string, depth: number, inside = "") =>
  `${open.repeat(depth)}${inside}${close.repeat(depth)}`

/** JSON values as sent in a body, and texts that resemble JSON. */
export const jsons: ReadonlyArray<string> = [
  ...String.raw`null true false {} [] [null] [[]] "" {"":""} {"a":1} {"a":null} {"a":"1","a":"2"} {"toString":"a"} {"length":"1"}`.split(
    " "
  ),
  ..."0 -0 -0.0 -1 1 0.1 1.5 1e-400 1e400 -1e400 1e308 1E+2 2.1e-7 0e0 9007199254740991 9007199254740993 2147483648 4294967296".split(
    " "
  ),
  ..."9223372036854775808 2100000000000000 2100000000000001 18446744073709551616".split(" "),
  ...String.raw`"\ud800" "\udfff\ud800" "\u0000" "a\u0000b" "\u202e" {"\u0000":""} {"\ud800":""}`.split(" "),
  ...String.raw`{"__proto__":{"a":1}} {"__proto__":"a"} {"constructor":{"prototype":{"a":1}}}`.split(" "),
  // Invalid JSON.
  ...String.raw`NaN Infinity -Infinity undefined 01 +1 .5 1. 0x10 1_000 'a' "a "\x" "\ud8" tru`.split(" "),
  "",
  `"\n"`,
  "1".repeat(1000),
  `0.${"0".repeat(1000)}1`,
  `1e${"9".repeat(100)}`,
  `{"${"k".repeat(41)}":"v"}`,
  `{"a":"${"v".repeat(501)}"}`,
  `{${Array.from({ length: 51 }, (_, at) => `"k${at}":"v"`).join(",")}}`,
  deep("[", "]", 10_000),
  deep(`{"a":`, "}", 8_000, "1"),
  deep("[", "", 10_000),
  ...texts.map((text) => JSON.stringify(text))
]

/** Unknown field names. */
export const names: ReadonlyArray<string> = [
  "x",
  "",
  "__proto__",
  "constructor",
  "toString",
  "\\u0000",
  "\\ud800",
  "company_id",
  "id",
  "status",
  "scopes",
  "n".repeat(3000)
]
