/** A listed tool that is not offered to agents, with the reason. */
export type LeftOut = { name: string; reason: string };
