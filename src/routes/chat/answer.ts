import { createEventStream, type EventStream } from '../../http/sse.ts';
import { type ChatOptions, chatProtocol } from '../../protocols/ai-sdk/encoder.ts';
import { createFeed } from '../../protocols/ai-sdk/feed.ts';
import { earlierCalls, goingCalls, heldCalls } from '../../protocols/ai-sdk/held-calls.ts';
import { joiningProtocol } from '../../protocols/joining.ts';
import type { ReplayBuffer } from '../../protocols/replay-buffer.ts';
import type { Attach, DecisionInput, ThreadView } from '../../runtime/index.ts';
import type { Reading } from '../../schema/reader.ts';
import type { RouteDeps } from '../route-deps.ts';

/**
 * The response to a chat request: a dedicated stream that other clients may follow (chat-and-agui.md 6).
 *
 * Guarantees: frames are written to the replay buffer of the thread and from there to the client, so that both have the
 * same positions. A client that disconnects or does not read does not affect the run. Other clients follow the buffer
 * from its first frame once the input of the run is stored; until then they follow the run that this one may pre-empt.
 */
export type ChatAnswer = {
  stream: EventStream;
  /** Attaches the reader of the run. `thread` is the thread that the request was validated against. */
  attachTo(thread: ThreadView, decisions: readonly DecisionInput[]): Attach;
  /** Closes the buffer after the request was rejected. */
  giveUp(): void;
};

export const CHAT_HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

export const createAnswer = (
  { store, chatStreams, ids }: Pick<RouteDeps, 'store' | 'chatStreams' | 'ids'>,
  {
    scope,
    thread_id,
    continues,
    reading,
  }: { scope: string; thread_id: string; continues: string | undefined; reading: Reading },
): ChatAnswer => {
  const stream = createEventStream({ headers: CHAT_HEADERS, reading });
  let buffer: ReplayBuffer | undefined;

  const isActive = (): boolean => store.threads.get(scope, thread_id)?.thread.active_run_id !== undefined;

  return {
    stream,
    attachTo({ run_id, tickets, going }, decisions) {
      const options: ChatOptions =
        continues === undefined ? { earlier: earlierCalls(tickets) } : { continues };
      // In the protocols, decisions refer to tickets.
      const decided = new Set(decisions.map(({ tool_call_id }) => tool_call_id));
      const held = continues === undefined ? [] : [...goingCalls(going), ...heldCalls(tickets, decided)];
      return (channel) => {
        buffer = chatStreams.open(scope, thread_id, isActive);
        stream.onClose(buffer.attach(undefined, stream));
        // Decisions may be for an executing run whose stream is in progress.
        const plain = chatProtocol(options);
        const protocol =
          run_id !== undefined && decisions.length > 0
            ? joiningProtocol(`ai-sdk ${ids.uuid()}`, plain.createEncoder, { run_id, thread_id })
            : plain;
        channel.attach(protocol, createFeed(buffer, held));
      };
    },
    giveUp: () => buffer?.close(),
  };
};
