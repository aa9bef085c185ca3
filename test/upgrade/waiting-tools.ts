import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Tool } from '../../src/tools/tool.ts';

/** Tools whose calls leave a run in a state that the tools of other tests do not lead to. */

const input = z.object({});

/** A call waits for a login, like the call of a delegate whose service requires one. */
const login: Tool = {
  ...defineTool({ id: 'login', description: 'Requires a login.', input, execute: () => ({ data: null }) }),
  gate: ({ id, arguments: args }) => ({
    kind: 'suspend',
    ticket: {
      suspension: { id: `login_${id}`, action: 'agent_delegate:auth_required', message: 'Log in' },
      pending: { id, name: 'login', arguments: args },
      resume_mode: 'use_decision_as_tool_result',
    },
  }),
};

/** A gate that blocks each call, and with it the run. */
const forbidden: Tool = {
  ...defineTool({ id: 'forbidden', description: 'Is forbidden.', input, execute: () => ({ data: null }) }),
  gate: () => ({ kind: 'block', reason: 'forbidden' }),
};

/** Starts a background task that ends with its process. */
const work = defineTool({
  id: 'work',
  description: 'Starts a task.',
  input,
  execute: (_, context) => ({
    data: { task_id: context.tasks?.start({ run: () => new Promise(() => {}) })?.task_id ?? null },
  }),
});

export const waitingTools: Tool[] = [login, forbidden, work];
