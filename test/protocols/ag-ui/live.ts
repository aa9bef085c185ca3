import type { Test } from 'tap';
import { type AgUiOptions, agUiProtocol } from '../../../src/protocols/ag-ui/encoder.ts';
import { findOpenTickets } from '../../../src/protocols/ag-ui/interrupts.ts';
import { type HistoryItem, toHistoryItems } from '../../../src/protocols/ag-ui/messages.ts';
import { agUiReplay } from '../../../src/protocols/ag-ui/replay.ts';
import { indexSuspensions } from '../../../src/protocols/ai-sdk/suspensions.ts';
import { replayPage } from '../../../src/protocols/replay-log.ts';
import { type DecisionInput, listMessages } from '../../../src/runtime/index.ts';
import { sourceOf, startChat } from '../ai-sdk/live.ts';

/** The runtime on a real store, with AG-UI clients on its channels. */

const scope = 'default';

export const startAgUi = async (t: Test, mode?: Parameters<typeof startChat>[1]) => {
  const { runtime, store, input, steps } = await startChat(t, mode);
  const source = sourceOf(store);

  const send = async (
    text: string | undefined,
    decisions: DecisionInput[] = [],
    options: AgUiOptions = {},
  ) => {
    let frames = '';
    let run_id = '';
    await new Promise<void>((resolve, reject) => {
      const write = (more: string) => {
        frames += more;
      };
      const submission = {
        ...input(''),
        mode: 'foreground' as const,
        messages: text === undefined ? [] : input(text).messages,
        decisions,
      };
      runtime
        .submit(scope, 'T', {
          ...submission,
          attach: (channel) => {
            channel.attach(agUiProtocol(options), { write, end: resolve });
          },
        })
        .then((accepted) => {
          run_id = accepted.run_id;
        }, reject);
    });
    return { frames, run_id };
  };

  return {
    runtime,
    steps,
    send,
    waiting: (run_id: string) => findOpenTickets(source.run(run_id, 1)),
    history: (): HistoryItem[] => {
      const filter = { order: 'asc', visibility: 'external' } as const;
      const { rows } = listMessages({ store, scope, thread_id: 'T' }, filter, { offset: 0 }, 1_000);
      const runs = store.runs.list(scope, { thread_id: 'T' }, { offset: 0, limit: 100 }).items;
      return toHistoryItems(rows, indexSuspensions(runs));
    },
    replay: (cursor?: string, limit = 500) => replayPage(source, agUiReplay, cursor, limit),
  };
};
