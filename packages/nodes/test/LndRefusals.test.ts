import { assert, describe, it } from "@effect/vitest"
import { isWrong, ofRefusal, ofSilence, reasons } from "../src/LndOutage.ts"
import { unreadable } from "../src/Words.ts"

const names = { url: "OUR_URL", certificateFile: "OUR_CERTIFICATE", macaroon: "OUR_MACAROON" }
const place = { url: "https://lnd", certificateFile: undefined, names }

/** What a refusal says: the reason of the outage, its scope, and whether lnd certainly did not process the request. */
const said = (code: number, words: string) => {
  const outage = ofRefusal("pay", { code, words }, place)
  return outage && [outage.reason, outage.about, outage.isTurnedAway === true]
}

describe("lnd's refusal of a request", () => {
  for (const [words, reason, about] of [
    ["wallet locked, unlock it to enable full RPC access", reasons.locked, undefined],
    ["wallet not created, create one to enable full RPC access", reasons.empty, undefined],
    ["waiting to start, RPC services not available", reasons.starting, undefined],
    [
      "the RPC server is in the process of starting up, but not yet ready to accept calls",
      reasons.starting,
      undefined
    ],
    ["permission denied", reasons.forbidden, "call"],
    ["verification failed: signature mismatch after caveat verification", reasons.foreign, "macaroon"],
    ["cannot get macaroon: root key with id 7 doesn't exist", reasons.foreign, "macaroon"],
    [
      "cannot retrieve macaroon: cannot get macaroon: root key with id 7 doesn't exist",
      reasons.foreign,
      "macaroon"
    ],
    ["expected 1 macaroon, got 0", reasons.foreign, "macaroon"]
  ] as const) {
    it(`C2: lnd: "${words}" means that the request was not processed`, () =>
      assert.deepStrictEqual(said(2, words), [reason, about, true]))
  }

  // lnd, or its gateway, can also say so after it has processed the request.
  for (const [code, words, reason, about] of [
    [2, "unable to send: wallet locked", reasons.failing, undefined],
    [2, "unable to send: wallet not created", reasons.failing, undefined],
    [2, "unable to send: waiting to start", reasons.failing, undefined],
    [2, "unable to send: permission denied", reasons.failing, undefined],
    [2, "unable to send: verification failed", reasons.foreign, "macaroon"],
    [2, "unable to send: cannot get macaroon", reasons.foreign, "macaroon"],
    [5, "Not Found", reasons.starting, undefined],
    [2, "server is still in the process of starting", reasons.starting, undefined],
    [2, "the server is shutting down", reasons.stopping, undefined],
    [2, "context canceled", reasons.failing, undefined],
    [2, "database is locked", reasons.failing, undefined],
    [4, "deadline exceeded", reasons.failing, undefined],
    [13, "stream terminated", reasons.failing, undefined],
    [14, "transport is closing", reasons.failing, undefined]
  ] as const) {
    it(`C2: lnd: "${words}" with code ${code} is an outage, and says nothing about the request`, () =>
      assert.deepStrictEqual(said(code, words), [reason, about, false]))
  }

  for (const [code, words] of [
    [2, "invoice expired"],
    [3, "amount must be specified"],
    [5, "invoice not found"],
    [6, "payment is already in flight"],
    [9, "self-payments not allowed"]
  ] as const) {
    it(`lnd: "${words}" with code ${code} answers the request`, () => assert.isUndefined(said(code, words)))
  }
})

describe("An outage of lnd", () => {
  it("lnd: a configuration that only the operator can correct is distinguished from a node that may return", () =>
    assert.deepStrictEqual(
      Object.values(reasons).filter((reason) => isWrong(reason)),
      [
        reasons.forbidden,
        reasons.foreign,
        reasons.unreadableFile,
        reasons.plain,
        reasons.untrusted,
        reasons.other
      ]
    ))

  it("lnd: a response that cannot be read concerns its call alone", () =>
    assert.strictEqual(ofSilence("pay", unreadable, place).about, "call"))
})
