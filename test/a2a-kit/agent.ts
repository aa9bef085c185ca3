import { z } from 'zod';
import {
  createTroupe,
  defineClientTool,
  defineProvider,
  defineTool,
  type InferenceEnd,
  type InferenceRequest,
  type InferenceSink,
  ModelError,
  type Tool,
  type Troupe,
  type TroupeConfig,
} from '../../src/index.ts';

/**
 * The agent that the conformance kit of A2A talks to (a2a.md 16.3), as a service. The prefix of the message id selects
 * its behavior. Every message that arrives over A2A ends with that id.
 */

type Answering = { sink: InferenceSink; wait(ms: number): Promise<void> };

type Act = (answering: Answering) => InferenceEnd | Promise<InferenceEnd>;

const END: InferenceEnd = { stop: 'EndTurn' };

const says =
  (...texts: string[]): Act =>
  async ({ sink, wait }) => {
    for (const [index, text] of texts.entries()) {
      // Consecutive chunks without a pause would be sent as one.
      if (index > 0) await wait(BETWEEN_MS);
      sink.text(text);
    }
    return END;
  };

const gives =
  (part: Parameters<NonNullable<InferenceSink['part']>>[0]): Act =>
  ({ sink }) => {
    sink.part?.(part);
    return END;
  };

const asksFor =
  (tool: string): Act =>
  ({ sink }) => {
    sink.toolStart('call', tool);
    sink.toolEnd('call', '{}');
    return { stop: 'ToolUse' };
  };

const BETWEEN_MS = 200;
const LONG_MS = 4_000;

const OUTPUT = { filename: 'output.txt', media_type: 'text/plain' };
const FILE: Act = gives({ file: Buffer.from('Generated file content'), ...OUTPUT });

/** By prefix of the id. The longest matching prefix applies. */
const ACTS: Readonly<Record<string, Act>> = {
  'tck-complete-task': says('Hello from TCK'),
  'tck-artifact-text': says('Generated text content'),
  'tck-artifact-file': FILE,
  'tck-artifact-file-url': gives({ url: 'https://example.com/output.txt', ...OUTPUT }),
  'tck-artifact-data': gives({ data: { key: 'value', count: 42 } }),
  'tck-input-required': asksFor('ask_user'),
  'tck-reject-task': asksFor('forbidden'),
  'tck-stream-001': says('Stream hello from TCK'),
  'tck-stream-002': says('Stream hello from TCK'),
  'tck-stream-003': says('Stream task lifecycle'),
  'tck-stream-ordering-001': says('Ordered output'),
  'tck-stream-artifact': says('Streamed text content'),
  'tck-stream-artifact-text': says('Streamed text content'),
  'tck-stream-artifact-file': FILE,
  'tck-stream-artifact-chunked': says('chunk-1 ', 'chunk-2'),
  'test-resubscribe-message-id': async ({ sink, wait }) => {
    await wait(LONG_MS);
    sink.text('Long work is done');
    return END;
  },
};

const OTHERWISE = says('Hello from TCK');

const LONGEST_FIRST = Object.entries(ACTS).sort(([one], [other]) => other.length - one.length);

const actFor = ({ messages }: InferenceRequest): Act => {
  const id = messages.findLast(({ role }) => role === 'user')?.metadata?.external_id ?? '';
  return LONGEST_FIRST.find(([prefix]) => id.startsWith(prefix))?.[1] ?? OTHERWISE;
};

const TOOLS: Tool[] = [
  defineClientTool({ id: 'ask_user', description: 'Asks for more.', input: z.object({}) }),
  {
    ...defineTool({
      id: 'forbidden',
      description: 'Nobody may do this.',
      input: z.object({}),
      execute: () => ({ data: null }),
    }),
    gate: () => ({ kind: 'block', reason: 'Task rejected by TCK' }),
  },
];

/** Time, as the test controls it. Rejects when the signal aborts. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** The process decides when time passes, so a test does not sleep. */
export const startKitAgent = ({
  wait,
  settings,
}: { wait: Wait } & Pick<TroupeConfig, 'settings'>): Promise<Troupe> =>
  createTroupe({
    settings: { http_addr: '127.0.0.1:0', default_agent_id: 'tck', a2a_strict_card: true, ...settings },
    providers: [
      defineProvider({
        id: 'tck',
        async stream(request, sink, { signal }) {
          const waiting = (ms: number): Promise<void> =>
            wait(ms, signal).catch((cause) => {
              throw signal.aborted ? new ModelError('cancelled', '') : cause;
            });
          return actFor(request)({ sink, wait: waiting });
        },
      }),
    ],
    models: [{ id: 'tck', provider_id: 'tck', upstream_model: 'tck' }],
    agents: [{ id: 'tck', model_id: 'tck' }],
    tools: TOOLS,
  });
