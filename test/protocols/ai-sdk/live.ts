import type { Test } from 'tap';
import type { Provider } from '../../../src/models/model.ts';
import { type ChatOptions, chatProtocol } from '../../../src/protocols/ai-sdk/encoder.ts';
import type { UIMessage } from '../../../src/protocols/ai-sdk/messages.ts';
import { chatReplay } from '../../../src/protocols/ai-sdk/replay.ts';
import { indexSuspensions } from '../../../src/protocols/ai-sdk/suspensions.ts';
import type { ReplaySource } from '../../../src/protocols/replay-log.ts';
import { replayPage } from '../../../src/protocols/replay-log.ts';
import { type DecisionInput, listMessages } from '../../../src/runtime/index.ts';
import { startRuntime } from '../../runtime/runtime.ts';
import type { Inference } from '../../service/models.ts';
import { createTestTools } from '../../service/tools.ts';
import { toUIMessages } from './ui-messages.ts';

/** The runtime on a real store, with chat clients on its channels. The model executes the steps that a test queues. */

type Mode = 'compacted' | 'full_fidelity';

const scope = 'default';

export const says =
  (...deltas: string[]): Inference =>
  (sink) => {
    for (const delta of deltas) sink.text(delta);
    return { stop: 'EndTurn' };
  };

export const startChat = async (t: Test, mode: Mode = 'compacted') => {
  const steps: Inference[] = [];
  const provider: Provider = {
    id: 'test',
    model: (spec) => ({
      id: spec.id,
      provider: 'test',
      upstream: 'm',
      async stream(request, sink, signal) {
        const step = steps.shift() ?? says('nothing', ' more');
        return step(sink, request, signal);
      },
    }),
  };
  const settings = { event_capture_mode: mode };
  const { tools } = createTestTools();
  const started = await startRuntime(t, { provider, settings, tools });
  const { runtime, store, input } = started;

  const send = async (
    text: string | undefined,
    decisions: DecisionInput[] = [],
    options: ChatOptions = {},
  ) => {
    let frames = '';
    let run_id = '';
    await new Promise<void>((resolve, reject) => {
      const messages = text === undefined ? [] : input(text).messages;
      runtime
        .submit(scope, 'T', {
          ...input(''),
          mode: 'foreground',
          messages,
          decisions,
          attach: (channel) => {
            channel.attach(chatProtocol(options), {
              write: (more) => {
                frames += more;
              },
              end: resolve,
            });
          },
        })
        .then((accepted) => {
          run_id = accepted.run_id;
        }, reject);
    });
    return { frames, run_id };
  };

  return {
    ...started,
    steps,
    send,
    history: (): UIMessage[] => {
      const filter = { order: 'asc', visibility: 'external' } as const;
      const { rows } = listMessages({ store, scope, thread_id: 'T' }, filter, { offset: 0 }, 1_000);
      const runs = store.runs.list(scope, { thread_id: 'T' }, { offset: 0, limit: 100 }).items;
      return toUIMessages(rows, indexSuspensions(runs));
    },
    replay: (cursor?: string, limit = 500) => replayPage(sourceOf(store), chatReplay, cursor, limit),
  };
};

/** Yields rows on demand, in small reads. */
export const sourceOf = ({ events }: Awaited<ReturnType<typeof startRuntime>>['store']): ReplaySource => {
  function* rows(by: { thread_id: string } | { run_id: string }, from: number) {
    for (let at = from - 1; ; ) {
      const page = events.list(scope, by, at, 7);
      yield* page.rows;
      if (!page.has_more) return;
      at = page.rows.at(-1)?.seq ?? at;
    }
  }
  return {
    thread: (from) => rows({ thread_id: 'T' }, from),
    run: (run_id, from) => rows({ run_id }, from),
  };
};
