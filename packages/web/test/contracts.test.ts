import * as Names from "@satrail/contracts/Names"
import * as Resolver from "@satrail/contracts/Resolver"
import { Effect, Layer } from "effect"
import * as Validating from "../src/Names.ts"
import { answer, asked, framed, overHttps, overTcp, type Said, txt } from "./NameServer.ts"
import * as Recipients from "./Recipients.ts"
import { serve } from "./Server.ts"

Resolver.suite("web", Recipients.layer)

/** A zone that a test writes, and whether its server answers. */
const zone = () => {
  const records = new Map<string, Said>()
  let isCut = false
  return {
    said: (name: string) => records.get(name.toLowerCase()) ?? { code: 3 },
    isCut: () => isCut,
    peer: Names.Peer.of({
      set: (name, texts, isSigned) =>
        Effect.sync(() => {
          const strings = (text: string) => text.match(/.{1,255}/g) ?? []
          records.set(name, { records: texts.map((text) => txt(name, ...strings(text))), isAuthentic: isSigned })
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

const layerOf = (peer: Names.Peer["Service"], url: string) =>
  Layer.merge(Layer.succeed(Names.Peer, peer), Validating.layer({ validating: [new URL(url)] }))

const http = Layer.unwrap(
  Effect.gen(function* () {
    const { said, isCut, peer } = zone()
    const { port } = yield* serve((request, response) => (isCut() ? request.socket.destroy() : overHttps(said)(request, response)))
    return layerOf(peer, `http://127.0.0.1:${port}/dns-query`)
  })
)

const tcp = Layer.unwrap(
  Effect.gen(function* () {
    const { said, isCut, peer } = zone()
    const port = yield* overTcp((question) => (isCut() ? undefined : framed(answer(question, said(asked(question))))))
    return layerOf(peer, `tcp://127.0.0.1:${port}`)
  })
)

Names.suite("over HTTPS", http)
Names.suite("over TCP", tcp)
