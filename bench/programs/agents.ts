import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { defineProvider, defineTool, type TroupeConfig } from '../../src/index.ts';

/**
 * Agents that a script cannot express: `bench-rounds` calls tools, `bench-moving` does so endlessly with pauses, and
 * `bench-open` does not complete before a restart.
 */

export type AgentsOptions = {
  /** Rounds of two tools each, after which `bench-rounds` completes. */
  rounds?: number;
  /** Mean delay of the model of `bench-moving` before each round. */
  pause_ms?: number;
  /** True: `bench-open` completes; false: it never does. */
  answers?: boolean;
};

const TOOLS = ['first', 'second'];

/** An assistant message and the results of its calls. */
const MESSAGES_A_ROUND = 1 + TOOLS.length;

const TOKENS = 20;

const caller = (id: string, rounds: number, pause_ms: number) =>
  defineProvider({
    id,
    stream: async ({ messages }, sink) => {
      // Random delays keep the runs from moving in step.
      if (pause_ms > 0) await setTimeout(pause_ms * (0.5 + Math.random()));
      const round = Math.floor(messages.length / MESSAGES_A_ROUND);
      if (round >= rounds) {
        sink.text('Done.');
        return { stop: 'EndTurn' };
      }
      for (const tool of TOOLS) {
        const call = `${tool}_${round}`;
        sink.toolStart(call, tool);
        sink.toolEnd(call, JSON.stringify({ round }));
      }
      return { stop: 'ToolUse' };
    },
  });

const waiter = (answers: boolean) =>
  defineProvider({
    id: 'bench-open',
    stream: async (_, sink) => {
      if (!answers) await new Promise(() => {});
      for (let token = 0; token < TOKENS; token += 1) sink.text('token ');
      return { stop: 'EndTurn' };
    },
  });

export const agents = ({ rounds = 0, pause_ms = 0, answers = false }: AgentsOptions): TroupeConfig => ({
  providers: [
    caller('bench-rounds', rounds, 0),
    caller('bench-moving', Number.POSITIVE_INFINITY, pause_ms),
    waiter(answers),
  ],
  models: ['bench-rounds', 'bench-moving', 'bench-open'].map((id) => ({
    id,
    provider_id: id,
    upstream_model: id,
  })),
  tools: TOOLS.map((id) =>
    defineTool({
      id,
      description: `The ${id} of two tools.`,
      input: z.object({ round: z.int() }),
      idempotent: true,
      execute: ({ round }) => ({ data: { round, text: 'It is seven degrees in Oslo, with some rain.' } }),
    }),
  ),
  agents: [
    { id: 'bench-rounds', model_id: 'bench-rounds', max_rounds: 0, allowed_tools: TOOLS },
    { id: 'bench-moving', model_id: 'bench-moving', max_rounds: 0, allowed_tools: TOOLS },
    { id: 'bench-open', model_id: 'bench-open', max_rounds: 1, allowed_tools: [] },
  ],
});
