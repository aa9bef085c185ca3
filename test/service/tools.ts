import { z } from 'zod';
import { defineClientTool, defineTool } from '../../src/tools/define-tool.ts';
import type { Tool } from '../../src/tools/tool.ts';

/** Tools that a test controls, with a record of their calls. All test agents have them. */

export type TestTools = {
  tools: Tool[];
  /** Ids of the calls that were executed, in order. */
  executed: string[];
  /** Ids of the calls that are executing and held. */
  holding(): string[];
  /** Completes every held call. */
  release(): void;
};

/**
 * `risky` needs approval; `pick_color` is executed by the client; `hold` waits until it is released; `sly` also waits
 * but ignores its signal; `guarded` needs approval and then waits like `hold`; `note` returns at once.
 */
export const createTestTools = (): TestTools => {
  const executed: string[] = [];
  const held = new Map<string, () => void>();
  const tool = (definition: Partial<Parameters<typeof defineTool>[0]> & { id: string }): Tool =>
    defineTool({
      description: definition.id,
      input: z.object({}),
      execute: (_, { call_id }) => {
        executed.push(call_id);
        return { data: `did ${call_id}` };
      },
      ...definition,
    });

  const waitFor = (call_id: string, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      executed.push(call_id);
      held.set(call_id, () => {
        held.delete(call_id);
        resolve();
      });
      signal?.addEventListener('abort', () => {
        held.delete(call_id);
        reject(signal.reason);
      });
    });

  return {
    executed,
    holding: () => [...held.keys()],
    release: () => {
      for (const go of [...held.values()]) go();
    },
    tools: [
      tool({ id: 'note' }),
      tool({ id: 'risky', needsApproval: true }),
      defineClientTool({ id: 'pick_color', description: 'Lets the user pick a color.', input: z.object({}) }),
      tool({
        id: 'hold',
        async execute(_, { call_id, signal }) {
          await waitFor(call_id, signal);
          return { data: `did ${call_id}` };
        },
      }),
      tool({
        id: 'guarded',
        needsApproval: true,
        async execute(_, { call_id, signal }) {
          await waitFor(call_id, signal);
          return { data: `did ${call_id}` };
        },
      }),
      tool({
        id: 'sly',
        async execute(_, { call_id }) {
          await waitFor(call_id);
          return { data: `did ${call_id}` };
        },
      }),
    ],
  };
};
