import { createRunState } from '../../src/loop/state.ts';
import type { RunStream, StepCall, Turn } from '../../src/loop/turn.ts';
import { DEFAULT_RETRY } from '../../src/models/retry.ts';
import { createStopPolicies } from '../../src/plugins/stop/policies.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { textOf } from '../../src/schema/message.ts';
import type { RunEvent, Ticket } from '../../src/schema/run-event.ts';
import type { ToolDescriptor } from '../../src/schema/tool-descriptor.ts';
import type { GateDecision, Json, Suspension, Tool, ToolOutput } from '../../src/tools/tool.ts';

/**
 * A turn without runtime, store and model: the calls of one step with their tools. The actions of the loop are recorded
 * in a trace, one line each.
 */

type Options = {
  /** One decision per evaluation of the gate; the last one repeats. Default: no gate. */
  gate?: GateDecision[];
  run?: (args: Json, signal: AbortSignal) => Promise<ToolOutput | Suspension>;
  exclusive?: boolean;
  /** The schema of the tool; default: the tool validates its own arguments. */
  unchecked?: ToolDescriptor['parameters'];
};

export type Scene = ReturnType<typeof scene>;

export const ticket = (id: string): Ticket => ({
  suspension: { id: `ticket_${id}`, action: 'tool:Ask' },
  pending: { id: `ticket_${id}`, name: 'ask', arguments: {} },
  resume_mode: 'replay_tool_call',
});

export const asked = (id: string): StepCall => ({
  call: { id, name: id, arguments: {} },
  malformed: undefined,
  status: 'new',
  updated_at: 0,
  ticket: undefined,
  edited: undefined,
  passed: false,
  kept: undefined,
  returned: undefined,
  ran: undefined,
});

const toolOf = (
  id: string,
  { gate = [], run = async () => ({ data: id }), exclusive = false, unchecked }: Options,
  trace: string[],
): Tool => {
  const left = [...gate];
  return {
    descriptor: { id, name: id, description: '', parameters: unchecked ?? {}, category: null },
    idempotent: false,
    exclusive,
    checksOwnArguments: unchecked === undefined,
    async execute(args, { signal }) {
      trace.push(`start ${id}`);
      const outcome = await run(args, signal);
      trace.push(`end ${id}`);
      return outcome;
    },
    ...(gate.length > 0 && {
      gate: () => {
        trace.push(`gate ${id}`);
        return (left.length > 1 ? left.shift() : left[0]) ?? { kind: 'proceed' };
      },
    }),
  };
};

const NO_MODEL = {
  id: 'none',
  provider: 'none',
  upstream: 'none',
  stream: () => Promise.reject(new Error('no model is called here')),
};

const streamOf = (events: RunEvent[], trace: string[]): RunStream => ({
  emit(event) {
    events.push(event);
    if (event.event_type === 'tool_call_done') trace.push(`${event.outcome} ${event.id}`);
  },
  text: () => {},
  reasoning: () => {},
  toolDelta: () => {},
});

/** The calls have the ids of their tools, in this order. */
export const scene = (tools: Record<string, Options>) => {
  const trace: string[] = [];
  const events: RunEvent[] = [];
  const warned: object[] = [];
  const state = createRunState(null);
  const ids = Object.keys(tools);
  let made = 0;
  const turn: Turn = {
    scope: 'test',
    actsFor: undefined,
    files: undefined,
    acceptFiles: (content) => [...content],
    run_id: 'r1',
    thread_id: 't1',
    agent: {
      spec: AgentSpec.parse({ id: 'a' }),
      model: NO_MODEL,
      tools: new Map(Object.entries(tools).map(([id, options]) => [id, toolOf(id, options, trace)])),
      plugins: [],
      stop: createStopPolicies({ max_rounds: 16 }),
      contextPolicy: undefined,
      compaction: undefined,
      retry: DEFAULT_RETRY,
      resolution_id: '1',
    },
    clock: { now: () => 1_000 },
    ids: {
      uuid: () => {
        made += 1;
        return `id-${made}`;
      },
    },
    stream: streamOf(events, trace),
    state,
    outputSchema: undefined,
    answer: undefined,
    structured: undefined,
    committedBytes: () => 0,
    mostBytes: 1,
    warn: (_, fields = {}) => warned.push(fields),
    trace: undefined,
    context: undefined,
    traceFor: () => undefined,
    account: () => undefined,
    noteUsage() {},
    observe: {
      inference: { ended() {}, cutOff() {} },
      tools: { ended() {} },
      outputs: { ended() {}, repaired() {} },
      agents: { suspension() {}, handoff() {}, delegation() {} },
      tasks: { ended() {} },
    },
    committed: () => [],
    produced: [],
    started: true,
    maxCalls: 64,
    maxPhaseRounds: 16,
    resolveAgent: () => {
      throw new Error('no other agent is expected here');
    },
    step: undefined,
    calls: ids.map(asked),
    decisions: new Map(),
    issueTicket: ({ id }) => id,
    hasInput: () => false,
    steps: 0,
    answered: false,
    continuations: 0,
    compactor: undefined,
    tasks: undefined,
    mail: undefined,
    logCompaction: () => {},
    cutOff: undefined,
    note: undefined,
    continuesTruncated: true,
    maxOwnCalls: undefined,
    overrides: {},
    inputTokens: 0,
    outputTokens: 0,
    costUsd: undefined,
    lost: { input: 0, output: 0 },
    lostAttempt: false,
    response: '',
    async checkpoint() {
      trace.push(`commit ${statuses(turn)}`);
      return { taken: 0 };
    },
  };
  return { turn, trace, events, warned };
};

/** The statuses in the state of the run, as a commit stores them: 'a running, b new'. */
export const statuses = (turn: Turn): string => {
  const stored = JSON.stringify(turn.state.get('__runtime.tool_call_states') ?? { calls: {} });
  const { calls }: { calls: Record<string, { status: string }> } = JSON.parse(stored);
  return Object.entries(calls)
    .map(([id, { status }]) => `${id} ${status}`)
    .join(', ');
};

/** The history entry of each call, in the order of creation. */
export const results = (turn: Turn): string[] =>
  turn.produced.map(({ role, tool_call_id, content }) => `${role} ${tool_call_id}: ${textOf(content)}`);
