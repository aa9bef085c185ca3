import { chatProtocol } from '../../protocols/ai-sdk/encoder.ts';
import { createFeed } from '../../protocols/ai-sdk/feed.ts';
import { framesBefore } from '../../protocols/ai-sdk/resumed.ts';
import type { ReplayBuffers } from '../../protocols/replay-buffer.ts';
import type { Attach } from '../../runtime/index.ts';
import type { Clock } from '../../schema/clock.ts';
import type { Run } from '../../schema/run.ts';
import { eventsOf } from '../replay.ts';
import type { Rooms } from '../rooms.ts';

/**
 * A chat run that is resumed from the store has its replay buffer again (chat-and-agui.md 6). What an earlier process
 * had sent of its answer is recalled from the event log, for clients that come without a position. Positions continue
 * above those of earlier processes, so that a client that has one gets all that follows it.
 */
export const createResumedChat =
  ({
    store,
    chatStreams,
    clock,
    hasLog,
  }: Pick<Rooms, 'store'> & { chatStreams: ReplayBuffers; clock: Clock; hasLog: boolean }) =>
  (scope: string, { run_id, thread_id, activation }: Run): Attach | undefined => {
    if (activation?.trace.adapter !== 'ai_sdk') return undefined;
    const isActive = (): boolean => store.threads.get(scope, thread_id)?.thread.active_run_id !== undefined;
    return (channel) => {
      const buffer = chatStreams.open(scope, thread_id, isActive, clock.now());
      const earlier = hasLog ? framesBefore(eventsOf(store, scope, { run_id }, 1)) : [];
      channel.attach(chatProtocol(), createFeed(buffer, earlier));
    };
  };
