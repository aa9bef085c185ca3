import type { Context } from '../benchmark.ts';
import { inspect, inspectedFlags } from '../provider/inspected.ts';
import { createRequester, type Request } from '../requests.ts';
import { median, percentile } from '../rounds.ts';
import type { Measured } from '../row.ts';
import { type Server, startTroupe, stopAll } from '../servers.ts';

/** Events of stored responses, the list of models, and the memory of open responses. */

const AGENTS = 500;
/** Deltas of one response; with its other events, about 100. */
const DELTAS = 90;

const post = (path: string, body: object): Request => ({ method: 'POST', path, body: JSON.stringify(body) });

export const measureRecords = async (context: Context): Promise<Measured[]> => {
  const { short } = context;
  const many = Array.from({ length: short ? 5 : AGENTS }, (_, index) => ({
    id: `agent-${index}`,
    model_id: 'bench-ninety',
    max_rounds: 1,
    allowed_tools: [],
  }));
  const server = await startTroupe(context, {
    settings: {
      providers: [
        {
          id: 'bench-ninety',
          adapter: 'scripted',
          adapter_options: { scripts: { ninety: { tokens: DELTAS, text: 'token ' } } },
        },
      ],
      models: [{ id: 'bench-ninety', provider_id: 'bench-ninety', upstream_model: 'ninety' }],
      agents: many,
    },
  });
  const requester = createRequester(server, 1);
  try {
    const { text } = await requester.send(post('/v1/responses', { model: 'agent-0', input: 'Go.' }));
    const { id }: { id: string } = JSON.parse(text);
    const path = `/v1/responses/${id}?stream=true`;
    const events = (await requester.send({ path })).text.split('\nevent: ').length;
    const requests = short ? 5 : 1000;
    await requester.cost(requests, () => ({ path }));
    const replay = await requester.cost(requests, () => ({ path }));
    const times: number[] = [];
    for (let sent = 0; sent < requests; sent += 1) {
      times.push((await requester.send({ path: '/v1/models' })).ms);
    }
    return [
      {
        metric: 'a replay of 100 events from the record, its request included',
        unit: 'ms of CPU',
        aim: { of: 'value', most: 1 },
        rounds: [{ value: (replay / 1000 / events) * 100 }],
      },
      {
        metric: `GET /v1/models with ${many.length} agents and more`,
        unit: 'ms',
        aim: { of: 'p99', most: 5 },
        rounds: [{ value: median(times), p50: median(times), p99: percentile(times, 99) }],
      },
    ];
  } finally {
    requester.close();
    await server.process.stop();
  }
};

/** Both kinds of runs have emitted 200 tokens, and their model is silent. */
const AGENT = 'bench-halfway';
/** Runs before the measurement. */
const WARM = 20;

export const measureMemory = async (context: Context): Promise<Measured> => {
  const flags = inspectedFlags(context);
  const count = context.short ? 20 : 1000;
  const native = await startTroupe(context, flags);
  const responses = await startTroupe(context, flags);
  try {
    const each = async (server: Server, requestOf: (thread: string) => Request): Promise<number> => {
      const requester = createRequester(server, 4);
      const threads: string[] = [];
      for (let index = 0; index < count + WARM; index += 1) {
        const { text } = await requester.send(post('/v1/threads', {}));
        const { id }: { id: string } = JSON.parse(text);
        threads.push(id);
      }
      const run = (index: number): Request => requestOf(threads.pop() ?? `${index}`);
      // The response to this question is a number.
      const heapBytes = async (): Promise<number> => (await inspect(server, 'heap bytes')) as number;
      await requester.cost(WARM, run);
      await settled();
      const before = await heapBytes();
      await requester.cost(count, run);
      await settled();
      const after = await heapBytes();
      requester.close();
      return (after - before) / count / 1024;
    };
    const baseline = await each(native, (thread) =>
      post(`/v1/threads/${thread}/messages`, {
        agentId: AGENT,
        messages: [{ role: 'user', content: 'Go.' }],
      }),
    );
    const value = await each(responses, (conversation) =>
      post('/v1/responses', { model: AGENT, input: 'Go.', background: true, conversation }),
    );
    context.note(
      `heap of an open response after 200 tokens: ${value.toFixed(1)} KiB, of a native run without a reader: ${baseline.toFixed(1)} KiB`,
    );
    return {
      metric: 'memory of an open response without a reader, more than of a native run',
      unit: 'KiB of the heap',
      aim: { of: 'value', most: 4 },
      rounds: [{ value: value - baseline }],
    };
  } finally {
    await stopAll([native, responses]);
  }
};

/** Runs start after their requests are answered. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1500));
