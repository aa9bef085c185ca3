import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import {
  defineClientTool,
  defineProvider,
  defineState,
  defineTool,
  ModelError,
  type TroupeConfig,
  textOf,
  update,
} from '../../src/index.ts';

/**
 * The agents of the service under attack, as a config file of `troupe serve`. The plan of a run is in the user message,
 * so that every attempt of it does the same: `[i7] approve 20` calls a tool that needs an approval, then streams twenty
 * words, forty milliseconds apart.
 */

const { CRASH_EXECUTED: executed = '', CRASH_GATE: gate = '' } = process.env;

const PACE_MS = 40;

const handoff = defineState({
  key: 'agent_handoff',
  scope: 'thread',
  schema: z.object({ active_agent: z.string().optional(), requested_agent: z.string().optional() }),
});

/** Every execution of a call appends a line. */
const executes = ({ run_id, call_id }: { run_id: string; call_id: string }): void =>
  appendFileSync(executed, `${call_id} of run ${run_id}\n`);

const tools = [
  defineTool({
    id: 'note',
    description: 'Takes a note.',
    input: z.object({}),
    idempotent: true,
    async execute(_, { call_id }) {
      await pause(PACE_MS);
      return { data: `noted ${call_id}` };
    },
  }),
  defineTool({
    id: 'risky',
    description: 'Needs an approval.',
    input: z.object({}),
    needsApproval: true,
    execute(_, { run_id, call_id }) {
      executes({ run_id, call_id });
      return { data: `did ${call_id}` };
    },
  }),
  defineTool({
    id: 'hand_over',
    description: 'Hands the run over to agent back.',
    input: z.object({}),
    idempotent: true,
    execute: () => ({ data: 'handed over', state: [update(handoff, { requested_agent: 'back' })] }),
  }),
  defineTool({
    id: 'once',
    description: 'May not be executed twice.',
    input: z.object({}),
    async execute(_, { run_id, call_id }) {
      executes({ run_id, call_id });
      await pause(PACE_MS);
      return { data: `did ${call_id}` };
    },
  }),
  defineTool({
    id: 'long_once',
    description: 'May not be executed twice, and ends when the test releases it.',
    input: z.object({}),
    async execute(_, { run_id, call_id, signal }) {
      executes({ run_id, call_id });
      await held(call_id, signal);
      return { data: `did ${call_id}` };
    },
  }),
  defineClientTool({ id: 'choose', description: 'Asks the client.', input: z.object({}) }),
];

type Call = [tool: string, args: object];

/** The call ids of a worker differ from those of its planner and of every other worker. */
const below = (id: string, plan: string): Call => ['agent_run_worker', { prompt: `[${id}s] ${plan}` }];

const callsOf = (id: string, verb: string): readonly Call[] | undefined => {
  if (verb === 'delegate') return [below(id, 'talk 20')];
  if (verb === 'ask_below') return [below(id, 'approve 5')];
  return CALLS[verb];
};

const CALLS: Record<string, readonly Call[]> = {
  note: [['note', {}]],
  approve: [['risky', {}]],
  choose: [['choose', {}]],
  both: [
    ['choose', {}],
    ['risky', {}],
  ],
  pair: [
    ['once', {}],
    ['note', {}],
    ['once', {}],
  ],
  long: [['long_once', {}]],
  handoff: [['hand_over', {}]],
};

/** Resolves when the test opens its gate. */
const held = async (id: string, signal: AbortSignal): Promise<void> => {
  const { status } = await fetch(`${gate}/${id}`, { signal });
  if (status !== 200) throw new ModelError('provider', `the gate says ${status}`);
};

const provider = defineProvider({
  id: 'planned',
  async stream({ messages }, sink, { signal }) {
    const plan = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? []);
    const [, id = '', verb = '', words = '1'] = /\[(\w+)\] (\w+) ?(\d+)?/.exec(plan) ?? [];
    const calls = messages.at(-1)?.role === 'tool' ? undefined : callsOf(id, verb);
    if (calls) {
      for (const [index, [tool, args]] of calls.entries()) {
        sink.toolStart(`${id}-${index}`, tool);
        sink.toolEnd(`${id}-${index}`, JSON.stringify(args));
      }
      return { stop: 'ToolUse' };
    }
    try {
      for (let word = 0; word < Number(words); word += 1) {
        sink.text(word === 0 ? `answer to ${id}` : ' and so on');
        if (verb === 'long') sink.text(`: ${textOf(messages.at(-1)?.content ?? [])}`);
        if (verb === 'hold') await held(id, signal);
        else if (word + 1 < Number(words)) await pause(PACE_MS, undefined, { signal });
      }
    } catch (error) {
      if (signal.aborted) throw new ModelError('cancelled', '');
      throw error;
    }
    return { stop: 'EndTurn', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  },
});

const agent = (id: string, more: object = {}) => ({ id, model_id: 'planned', max_rounds: 50, ...more });

/** `default` is the agent of threads without an earlier run. */
const planner = { delegates: ['worker'] };

const config: TroupeConfig = {
  providers: [provider],
  models: [{ id: 'planned', provider_id: 'planned', upstream_model: 'planned' }],
  tools,
  agents: [agent('default', planner), agent('planner', planner), agent('back', planner), agent('worker')],
};

export default config;
