import type { Random } from '../../src/load-generator/random.ts';
import { type Frame, textIn } from './client.ts';
import type { Input, Outcome } from './ledger.ts';
import { below, pick, pickByWeight } from './random.ts';
import { judge, judged, type Operation, type World } from './world.ts';

/** All ways in which a client sends work to a thread. */

let count = 0;

type Plan = (random: Random) => string;

const talk: Plan = (random) => `talk ${1 + below(random, 30)}`;

const PLANS: readonly (readonly [number, Plan])[] = [
  [50, talk],
  [12, (random) => `note ${1 + below(random, 8)}`],
  [8, () => 'approve 5'],
  [4, () => 'choose 5'],
  [3, () => 'both 5'],
  [6, () => 'delegate 5'],
  [4, () => 'ask_below 5'],
  [5, () => 'pair 5'],
  [5, () => 'handoff 10'],
];

const HELD: readonly (readonly [number, Plan])[] = [
  [3, () => 'approve 5'],
  [1, () => 'choose 5'],
  [1, () => 'both 5'],
  [1, () => 'ask_below 5'],
];

/** Agents with dedicated models, in addition to the planner; `bench-paced` takes four seconds. */
const AGENTS: readonly (readonly [number, string])[] = [
  [20, 'planner'],
  [2, 'bench'],
  [1, 'bench-paced'],
  [1, 'default'],
];

const begin = (world: World, route: string, thread?: string): Input => {
  count += 1;
  const input: Input = {
    thread,
    mark: `[i${count}]`,
    route,
    outcome: 'open',
    status: undefined,
    run_id: undefined,
  };
  world.ledger.inputs.push(input);
  return input;
};

const settle = (input: Input, outcome: Outcome, status: number | undefined, run_id?: string): void => {
  input.outcome = outcome;
  input.status = status;
  input.run_id ??= run_id;
};

export const textFor = (
  { random }: World,
  { mark }: Input,
  plans: readonly (readonly [number, Plan])[] = PLANS,
): string => `${mark} ${pickByWeight(random, plans)(random)}`;

/** The information about a run in the frames of a protocol. */
type Dialect = {
  run(frame: Frame): string | undefined;
  /** The type of the end with its details. */
  end(frame: Frame): { type: string; reason: string } | undefined;
};

const NATIVE: Dialect = {
  run: ({ data }) => (data.event_type === 'run_start' ? textIn(data, 'run_id') : undefined),
  end: ({ data }) =>
    data.event_type === 'run_finish'
      ? {
          type: textIn(data, 'termination', 'type') ?? '',
          reason: textIn(data, 'termination', 'value') ?? '',
        }
      : undefined,
};

const CHAT: Dialect = {
  run: ({ data }) => (data.type === 'data-run-info' ? textIn(data, 'data', 'runId') : undefined),
  end: ({ data }) =>
    ['finish', 'abort', 'error'].includes(String(data.type))
      ? { type: 'any', reason: textIn(data, 'errorText') ?? String(data.type) }
      : undefined,
};

const AG_UI: Dialect = {
  run: ({ data }) => (data.type === 'RUN_STARTED' ? textIn(data, 'runId') : undefined),
  end: ({ data }) =>
    ['RUN_FINISHED', 'RUN_ERROR'].includes(String(data.type))
      ? { type: 'any', reason: textIn(data, 'message') ?? String(data.type) }
      : undefined,
};

/** Opens a run stream and reads it, sometimes only its start. The head of a 200 is the acknowledgement. */
const stream = async (
  world: World,
  input: Input,
  dialect: Dialect,
  request: { path: string; body: object },
): Promise<void> => {
  const { route } = input;
  let left = world.random() < 0.15 ? below(world.random, 10) : Number.POSITIVE_INFINITY;
  const ends: { type: string; reason: string }[] = [];
  const streamed = await world.client.follow({
    ...request,
    signal: world.patience,
    head: (status) => settle(input, judge(world, route, status), status),
    frame(frame) {
      input.run_id ??= dialect.run(frame);
      const end = dialect.end(frame);
      if (end) ends.push(end);
      left -= 1;
      return left > 0;
    },
  });
  if (streamed.status === undefined) settle(input, judge(world, route, undefined), undefined);
  if (streamed.status !== 200) return;
  if (world.patience.aborted)
    world.ledger.oddities.push(
      `${route} ${input.mark} on ${input.thread}: the stream of run ${input.run_id} hangs`,
    );
  for (const end of ends.slice(0, 1)) world.ledger.ends.push({ run_id: input.run_id ?? '', route, ...end });
  // A client that disconnected early may still have received the rest.
  const missing = ends.length === 0 && streamed.whole && left > 0;
  if ((missing || ends.length > 1) && dialect !== CHAT) {
    const whole = streamed.whole ? 'whole' : 'cut off';
    world.ledger.oddities.push(`${route} ${input.mark}: ${ends.length} ends in a stream that came ${whole}`);
  }
};

const foregroundOn = async (
  world: World,
  thread: string,
  plans: readonly (readonly [number, Plan])[],
): Promise<void> => {
  const input = begin(world, 'runs', thread);
  const agentId = plans === HELD ? 'planner' : pickByWeight(world.random, AGENTS);
  const messages = [{ role: 'user', content: textFor(world, input, plans) }];
  await stream(world, input, NATIVE, {
    path: '/v1/runs',
    body: { agentId, threadId: thread, messages },
  });
};

export const foreground: Operation = (world) => foregroundOn(world, pick(world.random, world.threads), PLANS);

export const held: Operation = (world) => foregroundOn(world, pick(world.random, world.heldThreads), HELD);

/** The mailbox creates the thread, and its agent is the default one before the first run. */
export const mailbox: Operation = async (world) => {
  const thread = pick(world.random, world.threads);
  await mailboxOn(world, thread);
};

export const mailboxOn = async (world: World, thread: string, plan?: string): Promise<void> => {
  const input = begin(world, 'mailbox', thread);
  const text = plan === undefined ? textFor(world, input) : `${input.mark} ${plan}`;
  const answer = await world.client.ask('POST', `/v1/threads/${thread}/mailbox`, { payload: { text } });
  settle(input, judged(world, 'mailbox', answer), answer?.status, textIn(answer?.body, 'run_id'));
};

const MODES: readonly (readonly [number, string])[] = [
  [5, 'queue'],
  [5, 'steer'],
  [2, 'interrupt_then_queue'],
  [1, 'resume_open_run'],
];

export const message: Operation = async (world) => {
  const thread = pick(world.random, world.threads);
  const mode = pickByWeight(world.random, MODES);
  const input = begin(world, mode, thread);
  const body = { mode, messages: [{ role: 'user', content: textFor(world, input) }] };
  const answer = await world.client.ask('POST', `/v1/threads/${thread}/messages`, body);
  const run_id = textIn(answer?.body, 'accepted_run_id');
  settle(input, judged(world, mode, answer), answer?.status, run_id);
};

export const inputToRun: Operation = async (world) => {
  const { ledger, random, client } = world;
  const recent = ledger.inputs
    .slice(-60)
    .filter(({ run_id, thread }) => run_id && thread !== undefined && world.threads.includes(thread));
  if (recent.length === 0) return;
  const { run_id, thread } = pick(random, recent);
  const input = begin(world, 'inputs', thread);
  const mode = pick(random, ['queue', 'live_then_queue']);
  const body = { mode, messages: [{ role: 'user', content: textFor(world, input) }] };
  const answer = await client.ask('POST', `/v1/runs/${run_id}/inputs`, body);
  settle(input, judged(world, 'inputs', answer), answer?.status, textIn(answer?.body, 'accepted_run_id'));
};

/** A blocking or non-blocking task, half of them with a webhook. */
export const a2a: Operation = async (world) => {
  const { client, random, ledger } = world;
  const thread = pick(random, world.threads);
  const returnImmediately = random() < 0.7;
  const hooked = random() < 0.6;
  const input = begin(world, returnImmediately ? 'a2a' : 'a2a held', thread);
  const configuration = {
    returnImmediately,
    ...(hooked && { taskPushNotificationConfig: { url: world.hookUrl } }),
  };
  const parts = [{ text: `${input.mark} ${talk(random)}` }];
  const sent = { messageId: `m-${input.mark}`, role: 'ROLE_USER', contextId: thread, parts };
  const answer = await client.ask('POST', '/v1/a2a/planner/message:send', { message: sent, configuration });
  const task = textIn(answer?.body, 'task', 'id');
  settle(input, judged(world, input.route, answer), answer?.status, task);
  if (input.outcome === 'acknowledged' && hooked && task !== undefined) ledger.tasks.add(task);
};

/** A client without a response repeats the same message. */
export const chat: Operation = async (world) => {
  const thread = pick(world.random, world.threads);
  const input = begin(world, 'chat', thread);
  const parts = [{ type: 'text', text: textFor(world, input) }];
  const body = {
    agentId: 'planner',
    threadId: thread,
    messages: [{ id: `chat-${input.mark}`, role: 'user', parts }],
  };
  await stream(world, input, CHAT, { path: '/v1/ai-sdk/chat', body });
  if (input.outcome !== 'unanswered' || world.random() < 0.5) return;
  await world.service.up();
  await stream(world, input, CHAT, { path: '/v1/ai-sdk/chat', body });
  // The first attempt may have been accepted: the second one is rejected then, and the message exists.
  if (isRefused(input)) input.outcome = 'unanswered';
};

const isRefused = ({ outcome }: Input): boolean => outcome === 'refused';

export const agUi: Operation = async (world) => {
  const thread = pick(world.random, world.threads);
  const input = begin(world, 'ag-ui', thread);
  const messages = [{ id: `ag-ui-${input.mark}`, role: 'user', content: textFor(world, input) }];
  await stream(world, input, AG_UI, {
    path: '/v1/ag-ui/run',
    body: { agentId: 'planner', threadId: thread, messages },
  });
};

const MCP_VERSION = '2026-07-28';

/** Calls an agent as an MCP tool without a session; the service chooses the thread. */
export const mcp: Operation = async (world) => {
  const input = begin(world, 'mcp');
  const name = 'planner';
  const method = 'tools/call';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name, arguments: { message: `${input.mark} ${talk(world.random)}` }, _meta };
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MCP_VERSION,
    'mcp-method': method,
    'mcp-name': name,
  };
  const answer = await world.client.ask(
    'POST',
    '/v1/mcp',
    { jsonrpc: '2.0', id: 1, method, params },
    headers,
  );
  // The head of a response precedes the run; only a successful result acknowledges the input.
  const isDone = answer?.text.includes('"isError":false') === true;
  const outcome = judged(world, 'mcp', answer);
  settle(input, outcome === 'acknowledged' && !isDone ? 'unanswered' : outcome, answer?.status);
};
