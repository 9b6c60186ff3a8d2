import { unreadable } from "./Words.ts"

// Describes errors of lnd, or of another server in its place, that mean lnd is unavailable to us: the problem
// in plain words, and its remedy. None of these errors says anything about a payment or an invoice. They are
// recognized by lnd's error texts (rpcperms/interceptor.go, macaroons/, rpcserver.go, v0.21) and Node's error
// codes.

/** The operator's names for the settings, used in remedies. */
export interface Names {
  readonly url: string
  readonly certificateFile: string
  readonly macaroon: string
}

export interface Place {
  readonly url: string
  readonly certificateFile: string | undefined
  readonly names: Names
}

/** Possible problems of lnd. They contain no secrets. */
export const reasons = {
  locked: "lnd is locked",
  empty: "lnd has no wallet",
  starting: "lnd is starting",
  stopping: "lnd is stopping",
  failing: "lnd has an internal error",
  forbidden: "lnd refuses a macaroon: a permission is missing",
  foreign: "lnd refuses a macaroon: it is not one of this node's",
  refusing: "lnd refuses the connection",
  nameless: "lnd's host name cannot be resolved",
  silent: "lnd does not respond",
  unreadable: "lnd's response cannot be read",
  unreadableFile: "lnd's TLS certificate file cannot be read",
  plain: "the server at lnd's address does not speak TLS",
  untrusted: "lnd's TLS certificate does not match",
  other: "the server at lnd's address is not lnd",
  stranger: "a different node answers at lnd's address"
} as const

/** Returns whether the problem is a wrong configuration, so that waiting doesn't help. */
export const isWrong = (reason: string | undefined): boolean =>
  [
    reasons.forbidden,
    reasons.foreign,
    reasons.unreadableFile,
    reasons.plain,
    reasons.untrusted,
    reasons.other
  ].some((wrong) => wrong === reason)

export interface LndOutage {
  readonly reason: string
  /** Instructions for the operator. */
  readonly remedy: string
  /**
   * The problem's scope, if it is not lnd as a whole: the macaroon, or the single call that the macaroon
   * doesn't allow.
   */
  readonly about?: "macaroon" | "call"
  /** True if lnd rejected the call before processing the request. */
  readonly isTurnedAway?: boolean
}

/**
 * gRPC status codes of responses to the request itself. Other codes may also come from a server between us and
 * lnd.
 */
const answers = new Set([2, 3, 5, 6, 9])
const notFound = 5

/** Returns the outage that a refusal indicates; undefined if it is a response to the request itself. */
export const ofRefusal = (
  operation: string,
  { code, words }: { readonly code: number; readonly words: string },
  { url, names }: Place
): LndOutage | undefined => {
  const wait = `Wait until \`lncli getinfo\` answers at ${url}.`
  if (/^wallet locked/i.test(words)) {
    const remedy = `Unlock its wallet with \`lncli unlock\`, or unlock it at every start (wallet-unlock-password-file). lnd is at ${url}.`
    return { reason: reasons.locked, remedy, isTurnedAway: true }
  }
  if (/^wallet not created/i.test(words)) {
    return {
      reason: reasons.empty,
      remedy: `Create one with \`lncli create\` at ${url}.`,
      isTurnedAway: true
    }
  }
  if (/^waiting to start|^the RPC server is in the process of starting up/i.test(words)) {
    return { reason: reasons.starting, remedy: wait, isTurnedAway: true }
  }
  if (/^permission denied/i.test(words)) {
    const remedy = `${names.macaroon} does not allow ${operation} at ${url}. Bake it again, see docs/guides/lnd.md, and restart the service.`
    return { reason: reasons.forbidden, remedy, about: "call", isTurnedAway: true }
  }
  if (/macaroon|verification failed/i.test(words)) {
    const remedy = `lnd at ${url} refuses ${names.macaroon}: ${words}. Bake it on this node, see docs/guides/lnd.md, and restart the service.`
    const isTurnedAway = /^verification failed|^cannot (?:get|retrieve) macaroon|^expected 1 macaroon/i.test(
      words
    )
    return { reason: reasons.foreign, remedy, about: "macaroon", isTurnedAway }
  }
  // Sent by the gateway in front of lnd until lnd has registered its services, and by lnd's server before it
  // has started.
  if ((code === notFound && /^not found$/i.test(words)) || /still in the process of starting/i.test(words)) {
    return { reason: reasons.starting, remedy: wait }
  }
  if (/shutting down/i.test(words)) return { reason: reasons.stopping, remedy: `Start it again at ${url}.` }
  if (
    !answers.has(code) ||
    /wallet|permission denied|waiting to start|starting|context|database/i.test(words)
  ) {
    return { reason: reasons.failing, remedy: `Error: ${words}. Check the log of lnd at ${url}.` }
  }
  return undefined
}

/** Returns the outage for an error without a response, or with one that has another form than expected. */
export const ofSilence = (
  operation: string,
  words: string,
  { url, certificateFile, names }: Place
): LndOutage => {
  if (words === unreadable) {
    const remedy = `lnd at ${url} answered ${operation} in another form than expected. Use a version of lnd that this service supports, see docs/guides/lnd.md.`
    return { reason: reasons.unreadable, remedy, about: "call" }
  }
  const correct = `set ${names.url} to its restlisten address`
  if (certificateFile !== undefined && /ENOENT|EACCES|EISDIR/.test(words)) {
    return {
      reason: reasons.unreadableFile,
      remedy: `${words}. Set ${names.certificateFile} to a copy of lnd's tls.cert.`
    }
  }
  if (/wrong version number|EPROTO|ERR_SSL|packet length too long/i.test(words)) {
    return { reason: reasons.plain, remedy: `The address is ${url}. Start lnd there, or ${correct}.` }
  }
  if (/certificate|CERT|SELF_SIGNED|ALTNAME/i.test(words)) {
    const expected =
      certificateFile ?? `signed by a trusted CA, so set ${names.certificateFile} to lnd's tls.cert`
    const remedy = `The certificate at ${url} is not ${expected} (${words}). Copy tls.cert from lnd again; if the host name or address is missing in the certificate, add tlsextradomain or tlsextraip to lnd.conf.`
    return { reason: reasons.untrusted, remedy }
  }
  if (/not in lnd's format/.test(words)) {
    return {
      reason: reasons.other,
      remedy: `${url} returns ${words}. Check the proxies between the service and lnd, or ${correct}.`
    }
  }
  if (/ECONNREFUSED/.test(words))
    return {
      reason: reasons.refusing,
      remedy: `Nothing listens at ${url} (${words}). Start lnd, or ${correct}.`
    }
  if (/ENOTFOUND|EAI_AGAIN/.test(words))
    return { reason: reasons.nameless, remedy: `${url}: ${words}. Correct the DNS, or ${correct}.` }
  return { reason: reasons.silent, remedy: `${url}: ${words}. Start lnd, or ${correct}.` }
}

/** Returns the outage for a different node that responds in place of the expected one. */
export const ofStranger = (found: string, expected: string, { url }: Place): LndOutage => ({
  reason: reasons.stranger,
  remedy: `The node at ${url} is ${found}, but the configured one is ${expected}. Restore the configured node. The other one receives no calls.`
})
