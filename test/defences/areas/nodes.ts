import { type Canary, ldk, lndTest } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "lnd-without-a-record-yet",
    bug: "a call to lnd that may still arrive counts as not sent because lnd has no record of it yet",
    file: "packages/nodes/src/LndSender.ts",
    in: "make",
    find: `return known._tag === "notFound" ? ({ _tag: "unknown" } as const) : known`,
    replace: `return known._tag === "notFound" ? notSent : known`,
    test: lndTest,
    titles: "C3: lnd: a payment call that has no response after 2 s"
  },
  {
    name: "lost-answer-is-failure-lnd",
    rows: [2],
    bug: "lnd: a missing or unexpected response counts as a failed payment",
    file: "packages/nodes/src/LndSender.ts",
    in: "orUnknown",
    find: `Effect.as(Effect.logDebug("node: payment status unavailable", outage), { _tag: "unknown" } as const)`,
    replace: `Effect.succeed({ _tag: "failed", reason: "error" } as const)`,
    test: lndTest,
    titles: "C2:"
  },
  {
    name: "every-error-is-failure-lnd",
    rows: [3],
    bug: "lnd: every error of the call to pay counts as a failed payment",
    file: "packages/nodes/src/LndSender.ts",
    in: "make",
    find: `return isRefusal(refusal) ? { _tag: "failed", reason: "error" } : { _tag: "unknown" }`,
    replace: `return { _tag: "failed", reason: "error" }`,
    test: lndTest,
    titles: "C3:"
  },
  {
    name: "another-node-is-asked",
    rows: [4],
    bug: "lnd: another node at the old address is called to pay an invoice that the first node may be paying",
    file: "packages/nodes/src/LndRest.ts",
    in: "make",
    find: "if (found === expected)",
    replace: `if (expected !== "")`,
    test: lndTest,
    titles: "C4"
  },
  {
    name: "sent-however-late",
    rows: [1],
    bug: "a process that was suspended calls the node for a payment whose hold was already released",
    file: "packages/nodes/src/Https.ts",
    in: "make",
    find: "if (clock.currentTimeMillisUnsafe() <= notAfter) {",
    replace: "if (notAfter > 0) {",
    test: lndTest,
    titles: "a process that slept longer than the call timeout"
  },
  {
    name: "fee-limit-not-passed-lnd",
    rows: [26],
    bug: "lnd gets no fee limit",
    file: "packages/nodes/src/LndSender.ts",
    in: "make",
    find: "      fee_limit_msat: String(feeLimit), // always set: without it lnd uses only free routes\n",
    replace: "",
    test: lndTest,
    titles: "C25 C26 C28:"
  },
  {
    name: "satoshis-for-millisatoshis",
    rows: [28],
    bug: "lnd gets the fee limit in the wrong unit",
    file: "packages/nodes/src/LndSender.ts",
    in: "make",
    find: "fee_limit_msat: String(feeLimit)",
    replace: "fee_limit_msat: String(feeLimit / 1000n)",
    test: lndTest,
    titles: "C25 C26 C28:"
  },
  {
    name: "every-minus-5-is-gone",
    rows: [45, 60],
    bug: "a transaction is reported as missing by a bitcoin node that is still indexing",
    file: "packages/chain/src/BitcoinRpc.ts",
    in: "isAbsent",
    find: "code === codes.noInformation && /^no (?:such mempool or blockchain transaction|information available about transaction)/i.test(message)",
    replace: `code === codes.noInformation && message !== ""`,
    test: "packages/chain/test/Sources.test.ts",
    titles: "RPC: error -5"
  },
  {
    name: "index-behind-is-gone",
    rows: [45, 60],
    bug: "a transaction is reported as missing by a bitcoin node whose index is a block behind",
    file: "packages/chain/src/BitcoinRpc.ts",
    in: "make",
    find: "if (before.index !== undefined && before.index.height < before.tip.height)",
    replace: "if (before.index !== undefined && before.index.height < 0)",
    test: "packages/chain/test/txindex.test.ts",
    titles: "has not read the newest block"
  },
  {
    name: "every-404-is-gone",
    rows: [45, 60],
    bug: "a proxy's 404 in front of Esplora is treated as the server's own response",
    file: "packages/chain/src/Esplora.ts",
    in: "isMissing",
    find: `status === 404 && /^(?:transaction|block) not found$/i.test(body.toString("utf8").trim())`,
    replace: "status === 404 && body.length > 0",
    test: "packages/chain/test/Sources.test.ts",
    titles: "returns 404"
  },
  {
    name: "ldk-two-owners",
    bug: "two processes run the node of one store",
    file: ldk("store.go"),
    in: "openStore",
    find: "syscall.LOCK_EX|syscall.LOCK_NB",
    replace: "syscall.LOCK_SH|syscall.LOCK_NB",
    test: ldk("store_test.go"),
    titles: "TestAStoreHasOneOwner"
  },
  {
    name: "ldk-store-of-a-backup",
    bug: "a restored store counts as the newest if its own counter is as high",
    file: ldk("store.go"),
    in: "has",
    find: "is = run != nil && decodeNumber(run) >= seen.Count",
    replace: "is = run != nil || decodeNumber(tx.Bucket(bucketMeta).Get(keyCount)) >= seen.Count",
    test: ldk("store_test.go"),
    titles: "TestARestoredBackup"
  },
  {
    name: "ldk-sent-and-forgotten",
    rows: [8],
    bug: "after a crash every payment without an outcome counts as never sent",
    file: ldk("unsent.go"),
    in: "search",
    find: "one.isFound = one.isFound || bytes.Contains(content, trace)",
    replace: "_ = bytes.Contains(content, trace)",
    test: ldk("store_test.go"),
    titles: "TestAPaymentMissingFromLDKsState"
  },
  {
    name: "ldk-attempt-without-id",
    rows: [8],
    bug: "an attempt whose id LDK did not store in time counts as never sent",
    file: ldk("unsent.go"),
    in: "forgetUnsent",
    find: "case isLost:",
    replace: "case isLost && one.isFound:",
    test: ldk("store_test.go"),
    titles: "TestAnAttemptWithoutAStoredId"
  },
  {
    name: "lnd-settle-after-expiry",
    bug: "just after a long stop of lnd, a held payment that the payer took back meanwhile counts as received",
    file: "packages/nodes/src/LndHolding.ts",
    in: "make",
    find: "return held !== undefined && held.blocksLeft > claimBlocks",
    replace: "return held !== undefined",
    test: "packages/nodes/test/LndHolding.test.ts",
    titles: "a held payment is settled only before"
  },
  {
    name: "lnd-expired-part",
    bug: "lnd: a part of a payment that the payer took back before the rest arrived counts as received",
    file: "packages/nodes/src/LndInvoice.ts",
    in: "receivedOf",
    find: "expiry_height - completedAt <= claimBlocks",
    replace: "expiry_height <= 0 - completedAt",
    test: "packages/nodes/test/LndInvoice.test.ts",
    titles: "a part that was about to expire"
  },
  {
    name: "ldk-claim-at-an-old-height",
    bug: "after a long stop, a held payment that the payer took back meanwhile counts as received",
    file: ldk("claims.go"),
    in: "isReadSince",
    find: " || (before != nil && *read == *before)",
    replace: "",
    test: ldk("claims_test.go"),
    titles: "TestTheChainIsCurrent"
  },
  {
    name: "ldk-claim-on-an-old-chain",
    bug: "after a long stop of bitcoind too, a held payment that the payer took back meanwhile counts as received",
    file: ldk("tip.go"),
    in: "isTipRecent",
    find: " && now-newest.time < int64(tipAge.Seconds())",
    replace: "",
    test: ldk("tip_test.go"),
    titles: "TestTheNewestBlockMust"
  },
  {
    name: "ldk-open-socket",
    bug: "every user of the machine can make the node pay",
    file: ldk("socket.go"),
    in: "listenPrivately",
    find: "syscall.Umask(0o177)",
    replace: "syscall.Umask(0)",
    test: ldk("serve_test.go"),
    titles: "TestTheSocketIsPrivate"
  },
  {
    name: "ldk-mainnet-unasked",
    bug: "the node runs on mainnet without an explicit acceptance of the risks",
    file: ldk("main.go"),
    in: "readSettings",
    find: 'env("LDK_MAINNET") != mainnetWords',
    replace: 'env("LDK_MAINNET") == "no"',
    test: ldk("serve_test.go"),
    titles: "TestMainnetRequires"
  },
  {
    name: "lnd-forward-half-settled",
    bug: "a forward whose incoming HTLC has not settled counts as missing money",
    file: "packages/nodes/src/LndBooks.ts",
    in: "inChannels",
    find: "initiator || incoming",
    replace: "initiator",
    test: "packages/nodes/test/LndBooks.test.ts",
    titles: "lnd: the books explain a forward"
  },
  {
    name: "every-refusal-is-failure-ldk",
    rows: [3],
    bug: "ldk: every refusal of the call to pay counts as a failed payment",
    file: "packages/nodes/src/LdkPayments.ts",
    in: "make",
    find: `refused.code === "bad_request"`,
    replace: `refused.code !== ""`,
    test: "packages/nodes/test/LdkOutcomes.test.ts",
    titles: "C3: ldk: a call to pay"
  }
]
