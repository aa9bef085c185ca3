/** A connection on which nothing was sent, received or taken for so long is closed, as uWebSockets.js does. */
export const IDLE_MS = 10_000;
