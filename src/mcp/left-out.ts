/** A tool that a server lists and agents are not offered, and why. */
export type LeftOut = { name: string; reason: string };
