import { type Canary, outboundTest } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "private-addresses",
    rows: [48],
    bug: "the service connects to a name that resolves to an internal address",
    file: "packages/web/src/Outbound.ts",
    in: "make",
    find: "const addresses = found.filter(isAllowed)",
    replace: "const addresses = found",
    test: outboundTest,
    titles: "C48:"
  },
  {
    name: "checked-and-sent-anyway",
    rows: [49],
    bug: "a connection is made although the policy allows none of the addresses",
    file: "packages/web/src/Outbound.ts",
    in: "make",
    find: "return addresses.length > 0 ? addresses :",
    replace: "return addresses.length > 0 ? addresses : found.length > 0 ? found :",
    test: outboundTest,
    titles: "C49:"
  },
  {
    name: "vouched-for-every-port",
    rows: [50],
    bug: "a host trusted by the operator is trusted on every port",
    file: "packages/web/src/Outbound.ts",
    in: "vouchedBy",
    find: "allow.get(url.host)",
    replace: "allow.get(url.hostname)",
    test: outboundTest,
    titles: "C50:"
  },
  {
    name: "looked-up-again",
    rows: [51],
    bug: "a name is resolved once for the check and again for the connection",
    file: "packages/web/src/Outbound.ts",
    in: "make",
    find: "Effect.flatMap(addressesOf(target), (addresses) => opened(target, addresses))",
    replace: `Effect.flatMap(
      Effect.andThen(addressesOf(target), Effect.promise(() => lookup(target.name ?? "", new AbortController().signal))),
      (addresses) => opened(target, addresses)
    )`,
    test: outboundTest,
    titles: "C51:"
  },
  {
    name: "traced-url",
    rows: [56],
    bug: "traces contain the URLs of requests to other servers",
    file: "packages/web/src/Outbound.ts",
    in: "make",
    find: `attributes: { "server.address": URL.parse(request.url)?.hostname ?? "" }`,
    replace: `attributes: { "server.address": request.url }`,
    test: "packages/server/test/traces.test.ts",
    titles: "C56:"
  },
  {
    name: "connection-kept-for-ever",
    rows: [51],
    bug: "a kept connection is reused however long ago its address was checked",
    file: "packages/web/src/Idle.ts",
    in: "make",
    find: `if (!socket.destroyed && nowMillis - one.atMillis < maxAgeMillis)`,
    replace: `if (!socket.destroyed && nowMillis >= one.atMillis)`,
    test: outboundTest,
    titles: "C51: outbound: a kept connection goes to an address checked"
  },
  {
    name: "connection-of-another-host",
    rows: [51],
    bug: "a kept connection is reused for another host whose address was not checked",
    file: "packages/web/src/Outbound.ts",
    in: "placeOf",
    find: 'const placeOf = ({ host, port, isSecure }: Target): string => `${isSecure ? "tls" : "tcp"} ${host} ${port}`',
    replace: 'const placeOf = ({ port, isSecure }: Target): string => `${isSecure ? "tls" : "tcp"} ${port}`',
    test: outboundTest,
    titles: "C51: outbound: a kept connection is reused only for its own host"
  },
  {
    name: "signature-not-asked-for",
    bug: "a DNS record without DNSSEC validation is accepted, so anyone who can forge a response is paid",
    file: "packages/web/src/ValidatingResolver.ts",
    in: "validatedOf",
    find: "isSigned: isAuthenticated",
    replace: "isSigned: isAuthenticated || texts.length > 0",
    test: "packages/web/test/contracts.test.ts",
    titles: "Dns: signed responses are reported as signed"
  },
  {
    name: "servfail-is-none",
    bug: "a record with an invalid signature counts as absent, and the domain's server is used instead",
    file: "packages/web/src/ValidatingResolver.ts",
    in: "validatedOf",
    find: "code !== noError && code !== noSuchName",
    replace: "code === 5",
    test: "packages/web/test/Rfc8484.test.ts",
    titles: "RFC 8484: SERVFAIL"
  }
]
