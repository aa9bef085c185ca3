/** Another member as its row describes it; `url` is where other members reach it. */
export type Peer = { readonly id: string; readonly name: string; readonly url: string };
