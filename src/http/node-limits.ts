/** Idle timeout of connections, as in uWebSockets.js: no data was sent, received or taken by the peer. */
export const IDLE_MS = 10_000;
