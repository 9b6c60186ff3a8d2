import { assert, describe, it } from "@effect/vitest"
import * as Bip21 from "@satrail/bitcoin/Bip21"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { RecipientRefused, RecipientUnreachable } from "@satrail/core/nodes/Resolver"
import * as Destination from "@satrail/core/sending/Destination"
import { failureFor } from "@satrail/http/wire/Errors"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Outbound from "../src/Outbound.ts"
import * as PublicAddress from "../src/PublicAddress.ts"
import * as Resolver from "../src/Resolver.ts"
import * as WebhookPoster from "../src/WebhookPoster.ts"
import * as Dripping from "./Dripping.ts"
import { payRequest } from "./Recipients.ts"
import { counting, serve, trusting } from "./Server.ts"

/** An address in every special range, and the range's boundaries, in every notation that a parser might accept. */
const hosts = [
  // loopback
  [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1."
  ],
  [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "ⓛocalhost",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1"
  ],
  // this network, private, carrier-grade NAT, link-local
  [
    "0.0.0.0",
    "0",
    "0.1.2.3",
    "[::]",
    "10.0.0.1",
    "10.255.255.255",
    "167772161",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1"
  ],
  [
    "192.168.255.255",
    "0xc0a80001",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.0.1",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fec0::1]"
  ],
  // cloud metadata
  [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "192.0.0.192"
  ],
  [
    "168.63.129.16",
    "metadata",
    "metadata.google.internal",
    "instance-data",
    "169.254.170.2",
    "kubernetes.default.svc"
  ],
  // documentation, benchmarks, assignments, relays
  [
    "192.0.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "198.19.255.255",
    "192.88.99.1",
    "192.31.196.1"
  ],
  [
    "192.52.193.1",
    "192.175.48.1",
    "[2001:db8::1]",
    "[3fff::1]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[2620:4f:8000::1]"
  ],
  // multicast, reserved, broadcast
  [
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "[ff0e::1]",
    "[100::1]",
    "[5f00::1]",
    "[4000::1]"
  ],
  // IPv4 inside IPv6: mapped, compatible, translated, 6to4, Teredo, ISATAP
  [
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]"
  ],
  [
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:7f00:1::]",
    "[fe80::5efe:127.0.0.1]"
  ],
  // unique local, names of private networks, and names that are not public
  [
    "[fc00::1]",
    "[fdff::1]",
    "printer.local",
    "db.internal",
    "router.lan",
    "nas.home.arpa",
    "intranet",
    "db",
    "x.test",
    "x.invalid"
  ],
  // a public address is not a host name, and an .onion address requires Tor
  ["93.184.215.14", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]", `${"a".repeat(56)}.onion`]
].flat()

/** The same hosts in other parts of a URL, and other tricks. */
const urls = [
  ...hosts.map((host) => `https://${host}/.well-known/lnurlp/alice`),
  "https://page.example.com@127.0.0.1/",
  "https://page.example.com:443@127.0.0.1:9200/_x#",
  "https://user:password@page.example.com/",
  "https://@127.0.0.1/",
  "https://127.0.0.1:80@page.example.com/",
  "https://page.example.com\\@127.0.0.1/",
  "https://127.0.0.1\\.page.example.com/",
  "https://page.example.com\t/",
  "https://page.example.com\r\nHost: inside/",
  "https://page.example.com:22/",
  "https://page.example.com:25/",
  "https://page.example.com:0/",
  "https://page.example.com:80/",
  "https://page.example.com:99999/",
  "https://page.example.com:-1/",
  "https:///127.0.0.1/",
  "https:127.0.0.1",
  "//127.0.0.1/",
  "http://page.example.com/",
  "http://127.0.0.1/",
  "ftp://page.example.com/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:6379/_FLUSHALL",
  "data:application/json,{}",
  "unix:/var/run/docker.sock",
  "jar:https://page.example.com!/",
  "https://[::1",
  "https://%31%32%37.0.0.1/",
  "https://xn--/",
  ""
]

/** Addresses to which a name may resolve. */
const addresses = [
  [
    "127.0.0.1",
    "127.0.0.2",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.5.4",
    "192.168.1.1",
    "192.0.0.192"
  ],
  [
    "192.0.2.7",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.251",
    "255.255.255.255",
    "168.63.129.16",
    "192.88.99.1"
  ],
  [
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::1"
  ],
  [
    "2001::7f00:1",
    "2001:db8::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "ff02::fb",
    "3fff::1",
    "100::1",
    "5f00::1"
  ],
  ["not an address", ""]
].flat()

const statusOf = (error: RecipientRefused | RecipientUnreachable) => ({
  status: failureFor(error).status,
  tag: error._tag
})
const refused = { status: 422, tag: "RecipientRefused" } as const

const resolver = (options: Outbound.Options) =>
  Effect.provideService(Resolver.make, Outbound.Outbound, Outbound.make(options))

/** Fails every lookup, because a hostile name must be refused before it is looked up. */
const unasked = async (name: string) => {
  throw new Error(`${name} was looked up`)
}

describe("a hostile destination", () => {
  it.live(
    `C48 C50 C51: destination: ${urls.length} hostile URLs cause no lookup and no connection, and each returns a 422 with the reason`,
    () =>
      Effect.gen(function* () {
        assert.isAtLeast(urls.length, 100)
        const { offer } = yield* resolver({ lookup: unasked })
        for (const url of urls) {
          const { value, begun } = yield* counting(Effect.flip(offer(url)))
          assert.deepStrictEqual({ ...statusOf(value), begun }, { ...refused, begun: 0 }, url)
          assert.isAbove(failureFor(value).message.length, 40, url)
        }
      })
  )

  it.live(
    `C48 C50 C51: destination: no connection is made to ${addresses.length} internal addresses behind a public name, and each returns a 422`,
    () =>
      Effect.gen(function* () {
        for (const address of addresses) {
          const { offer } = yield* resolver({ lookup: async () => [address] })
          const { value, begun } = yield* counting(Effect.flip(offer("https://page.example.com/")))
          assert.deepStrictEqual({ ...statusOf(value), begun }, { ...refused, begun: 0 }, address)
        }
        const { offer } = yield* resolver({ lookup: async () => addresses })
        assert.strictEqual(
          (yield* counting(Effect.flip(offer("https://page.example.com/")))).begun,
          0,
          "all failed immediately"
        )
      })
  )

  it.live(
    "C48 C50 C51: webhook: a hostile URL is rejected as an endpoint, and no connection is made to a hostile URL that is already stored",
    () =>
      Effect.gen(function* () {
        const poster = WebhookPoster.make({ outbound: { lookup: unasked } })
        const ask = { companyId: CompanyId.operator, headers: () => ({}), body: "{}" }
        for (const url of urls) {
          assert.isDefined(poster.issue(url), url)
          const { value, begun } = yield* counting(poster.post({ url, ...ask }))
          assert.deepStrictEqual([value._tag, begun], ["Unanswered", 0], url)
        }
        for (const address of addresses) {
          const inside = WebhookPoster.make({ outbound: { lookup: async () => [address] } })
          const { value, begun } = yield* counting(inside.post({ url: "https://page.example.com/", ...ask }))
          assert.deepStrictEqual([value._tag, begun], ["Unanswered", 0], address)
        }
      })
  )

  it("destination: public addresses are not mistaken for internal addresses", () => {
    const open = [
      "1.1.1.1",
      "9.255.255.255",
      "11.0.0.0",
      "93.184.215.14",
      "100.63.255.255",
      "100.128.0.0",
      "169.253.255.255",
      "172.15.255.255"
    ]
    const more = [
      "172.32.0.0",
      "192.0.1.0",
      "192.167.255.255",
      "192.169.0.0",
      "198.17.255.255",
      "198.20.0.0",
      "223.255.255.255",
      "2606:4700::1111"
    ]
    for (const address of [...open, ...more, "2001:200::1", "2a00:1450:4001::1", "2003::1"])
      assert.isTrue(PublicAddress.is(address), address)
  })

  it.live("C48: destination: redirects and callbacks to internal addresses are not followed", () =>
    Effect.gen(function* () {
      yield* trusting
      let away = ""
      const page = yield* serve(
        (request, response) => {
          if (request.url === "/") return response.writeHead(302, { location: away }).end()
          return response.end(JSON.stringify({ ...payRequest, callback: away }))
        },
        { host: "127.0.0.2", isSecure: true }
      )
      const inside = yield* serve((_, response) => response.end(JSON.stringify(payRequest)), {
        host: "127.0.0.3",
        port: page.port
      })
      const here = `https://page.example.com:${page.port}`
      const lookup = async (name: string) => [name === "page.example.com" ? "127.0.0.2" : "127.0.0.3"]
      const { offer, invoice } = yield* resolver({ lookup, isAllowed: (address) => address === "127.0.0.2" })
      const places = [
        ...urls.filter((url) => /^[a-z]+:/.test(url)),
        `https://inside.example.com:${page.port}/`,
        `http://127.0.0.3:${page.port}/`
      ]
      for (const place of places) {
        away = place
        // A URL that is not valid in a header, or that has the page's own origin, is tried only as a callback.
        if (/^[!-~]*$/.test(place) && URL.parse(place, here)?.origin !== here) {
          const redirected = yield* counting(Effect.flip(offer(`${here}/`)))
          assert.deepStrictEqual(
            { ...statusOf(redirected.value), begun: redirected.begun },
            { ...refused, begun: 1 },
            place
          )
        }
        const offered = yield* offer(`${here}/offer`)
        const called = yield* counting(Effect.flip(invoice(offered, Msat.make(5000n))))
        assert.deepStrictEqual(
          { ...statusOf(called.value), begun: called.begun },
          { ...refused, begun: 0 },
          place
        )
      }
      assert.strictEqual(inside.connections(), 0)
    })
  )

  it.effect("C48: destination: a server whose response is huge, slow or not JSON causes a 422", () =>
    Effect.gen(function* () {
      const dripping = Dripping.make()
      const page = yield* serve((request, response) => {
        if (request.url === "/huge") return response.end("x".repeat(Outbound.defaults.maxBytes + 1))
        if (request.url === "/slow") return dripping.listener(request, response)
        return response.end("<html>inside</html>")
      })
      const { offer } = yield* resolver({
        allow: new Map([["wallet.example", new URL(`http://127.0.0.1:${page.port}`)]])
      })
      for (const path of ["/huge", "/slow", "/page"]) {
        const asked = yield* Effect.forkChild(Effect.flip(offer(`https://wallet.example${path}`)), {
          startImmediately: true
        })
        if (path === "/slow")
          yield* Effect.andThen(dripping.isHeard, TestClock.adjust(Outbound.defaults.totalMillis))
        const error = yield* Fiber.join(asked)
        assert.deepStrictEqual(statusOf(error), refused, path)
        assert.notInclude(failureFor(error).message, "inside", "no part of the response is passed on")
      }
    })
  )

  it("C51: destination: only the checked URL is requested, whatever the spelling of the destination", () => {
    for (const url of urls) {
      const written = Result.try(() => Lnurl.encode(url))
      const read = Result.isSuccess(written) ? Destination.parse(written.success, "mainnet") : undefined
      if (read === undefined || Result.isFailure(read)) continue
      assert.strictEqual(
        read.success._tag === "Lnurl" && new URL(read.success.lnurl.url).hostname.split(".").length > 1,
        true,
        url
      )
    }
    assert.isTrue(Result.isFailure(Destination.parse("a@127.0.0.1:9200/_x#", "mainnet")))
    assert.isTrue(Result.isSuccess(Bip21.parse("bitcoin:?lightning=lnurlp://page.example.com/")))
  })
})
