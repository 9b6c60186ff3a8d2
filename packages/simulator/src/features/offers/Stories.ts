import type { Act } from "../../plot/Operation.ts"
import { company, slot, surely, takenOver, wait } from "../../plot/Scenes.ts"
import type { Stories } from "../Feature.ts"

const offer: Act = { _tag: "CreateOffer", company: 0, slot, isOnce: true }
const payOffer = (sats: number): Act => ({ _tag: "PayOffer", which: 0, sats })

export const stories: Stories = {
  recipes: [],
  crashes: {
    "offer that this service issued and that is paid twice": {
      before: company(),
      during: [...surely(offer), payOffer(1000), wait(3000), payOffer(1000), ...takenOver]
    }
  }
}
