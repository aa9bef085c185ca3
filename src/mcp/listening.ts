import { readEvents, startCursor } from './event-stream.ts';
import { McpFailure, wordsOf } from './failure.ts';
import { discard } from './http-request.ts';
import { type HttpState, hand, openStream, pause, refuse } from './http-session.ts';
import { idOfResponse, readMessage } from './message.ts';

/**
 * Reads the stream of unsolicited server messages (mcp.md B4), which may be silent indefinitely. If a server does not
 * support it, no further attempt is made; if it breaks, it is reopened with increasing delays.
 */

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** Statuses that mean that the server has no such stream. */
const UNSERVED = new Set([404, 405, 501]);

export const listen = async (state: HttpState): Promise<void> => {
  const { signal } = state.over;
  const cursor = startCursor();
  let delay = FIRST_MS;
  const isOver = (): boolean => signal.aborted || state.expired;
  while (!isOver()) {
    const opened = await openOnce(state, cursor).catch((error: unknown) => {
      if (!isOver()) state.options.report(`the listening stream broke: ${wordsOf(error)}`);
      return 'broken' as const;
    });
    if (opened === 'unserved' || isOver()) return;
    if (opened === 'ended') delay = FIRST_MS;
    await pause((opened === 'ended' ? cursor.retryMs : undefined) ?? delay, signal).catch(() => {});
    delay = Math.min(2 * delay, LONGEST_MS);
  }
};

const openOnce = async (
  state: HttpState,
  cursor: ReturnType<typeof startCursor>,
): Promise<'ended' | 'unserved' | 'refused'> => {
  const { signal } = state.over;
  const response = await openStream(state, cursor, { signal, timeoutMs: 0 });
  const { statusCode = 0, headers } = response;
  const isStream = statusCode === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
  if (!isStream) {
    if (statusCode < 400) discard(response, state.peer.timeoutMs);
    else await refuse(state, response, { signal, lost: new McpFailure('expired', 'the session is lost') });
    return UNSERVED.has(statusCode) || statusCode < 300 ? 'unserved' : 'refused';
  }
  for await (const { data } of readEvents(response, cursor, { signal, idleMs: 0 })) {
    receive(state, data);
  }
  return 'ended';
};

/** A response belongs to the stream of its request; one that arrives here is dropped, and the stream stays open. */
const receive = (state: HttpState, data: string): void => {
  try {
    const message = readMessage(Buffer.from(data));
    if (message && idOfResponse(message) === undefined) hand(state, message);
  } catch (error) {
    state.options.report(wordsOf(error));
  }
};
