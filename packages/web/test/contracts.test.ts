import * as Dns from "@satrail/contracts/nodes/Dns"
import * as Resolver from "@satrail/contracts/nodes/Resolver"
import { Effect, Layer } from "effect"
import * as Validating from "../src/Dns.ts"
import { answer, asked, framed, overHttps, overTcp, type Said, txt } from "./NameServer.ts"
import * as Recipients from "./Recipients.ts"
import { serve } from "./Server.ts"

Resolver.suite("web", Recipients.layer)

/** A zone whose records a test can edit, and whose server a test can cut off. */
const zone = () => {
  const records = new Map<string, Said>()
  let isCut = false
  return {
    said: (name: string) => records.get(name.toLowerCase()) ?? { code: 3 },
    isCut: () => isCut,
    peer: Dns.Peer.of({
      set: (name, texts, isSigned) =>
        Effect.sync(() => {
          const strings = (text: string) => text.match(/.{1,255}/g) ?? []
          records.set(name, {
            records: texts.map((text) => txt(name, ...strings(text))),
            isAuthentic: isSigned
          })
        }),
      cut: Effect.sync(() => {
        isCut = true
      }),
      mend: Effect.sync(() => {
        isCut = false
      })
    })
  }
}

const layerOf = (peer: Dns.Peer["Service"], url: string) =>
  Layer.merge(Layer.succeed(Dns.Peer, peer), Validating.layer({ validating: [new URL(url)] }))

const http = Layer.unwrap(
  Effect.gen(function* () {
    const { said, isCut, peer } = zone()
    const { port } = yield* serve((request, response) =>
      isCut() ? request.socket.destroy() : overHttps(said)(request, response)
    )
    return layerOf(peer, `http://127.0.0.1:${port}/dns-query`)
  })
)

const tcp = Layer.unwrap(
  Effect.gen(function* () {
    const { said, isCut, peer } = zone()
    const port = yield* overTcp((question) =>
      isCut() ? undefined : framed(answer(question, said(asked(question))))
    )
    return layerOf(peer, `tcp://127.0.0.1:${port}`)
  })
)

Dns.suite("over HTTPS", http)
Dns.suite("over TCP", tcp)
