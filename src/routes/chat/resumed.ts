import { chatProtocol } from '../../protocols/ai-sdk/encoder.ts';
import { createFeed } from '../../protocols/ai-sdk/feed.ts';
import { framesBefore } from '../../protocols/ai-sdk/resumed.ts';
import type { ReplayBuffers } from '../../protocols/replay-buffer.ts';
import type { Attach } from '../../runtime/index.ts';
import type { Clock } from '../../schema/clock.ts';
import type { Run } from '../../schema/run.ts';
import { readEventsFrom } from '../replay.ts';
import type { RouteDeps } from '../route-deps.ts';

/**
 * Restores the replay buffer of a chat run that is resumed from the store (chat-and-agui.md 6). Frames that an earlier
 * process sent are restored from the event log, for clients without a position. Positions continue above those of
 * earlier processes, so that a client with a position receives everything after it.
 */
export const createResumedChat =
  ({
    store,
    chatStreams,
    clock,
    hasLog,
  }: Pick<RouteDeps, 'store'> & { chatStreams: ReplayBuffers; clock: Clock; hasLog: boolean }) =>
  (scope: string, { run_id, thread_id, activation }: Run): Attach | undefined => {
    if (activation?.trace.adapter !== 'ai_sdk') return undefined;
    const isActive = (): boolean => store.threads.get(scope, thread_id)?.thread.active_run_id !== undefined;
    return (channel) => {
      const buffer = chatStreams.open(scope, thread_id, isActive, clock.now());
      const earlier = hasLog ? framesBefore(readEventsFrom(store, scope, { run_id }, 1)) : [];
      channel.attach(chatProtocol(), createFeed(buffer, earlier));
    };
  };
